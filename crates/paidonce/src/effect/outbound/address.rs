//! Which addresses are globally routable. Everything else is somebody's inside, and is not reached (RELIABILITY 15).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of IPv4 addresses and the length of its prefix: IANA's special-purpose registry, multicast and reserved.
const IPV4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // The metadata services of the clouds are here.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 52, 193, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([192, 175, 48, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 3),
];

/// Public addresses at which clouds keep what only their guests may see.
const METADATA: [[u8; 4]; 1] = [[168, 63, 129, 16]];

/// The only global IPv6 unicast range, and what in it is not: protocols, documentation, and addresses that hold an
/// IPv4 address for somebody else to unwrap.
const GLOBAL: (u128, u32) = (0x2000 << 112, 3);
const IPV6: [(u128, u32); 5] = [
    (0x2001 << 112, 23),
    (0x2001_0db8 << 96, 32),
    (0x2002 << 112, 16),
    (0x2620_004f_8000 << 80, 48),
    (0x3fff << 112, 20),
];

/// Whether anybody on the internet can be reached there, and only that.
#[must_use]
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_global_v4(address),
            None => is_global_v6(address),
        },
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let inside = |(net, length): &([u8; 4], u32)| {
        let mask = u32::MAX << (32 - length);
        address.to_bits() & mask == u32::from_be_bytes(*net) & mask
    };
    !IPV4.iter().any(inside) && !METADATA.contains(&address.octets())
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    let inside = |(net, length): &(u128, u32)| {
        let mask = u128::MAX << (128 - length);
        address.to_bits() & mask == net & mask
    };
    inside(&GLOBAL) && !IPV6.iter().any(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g13_what_is_inside_is_not_global() {
        let inside = "0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 \
            127.0.0.1 127.1.2.3 127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 \
            172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 \
            192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 \
            240.0.0.1 255.255.255.255 :: ::1 ::2 ::7f00:1 ::a00:1 ::ffff:0.0.0.0 ::ffff:10.0.0.1 ::ffff:127.0.0.1 \
            ::ffff:169.254.169.254 ::ffff:192.168.1.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 \
            2001::1 2001:0:7f00:1::1 2001:10::1 2001:20::1 2001:db8::1 2001:db8:ffff::1 2002:7f00:1::1 2002:a9fe:a9fe::1 \
            2620:4f:8000::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff00::1 \
            ff02::1 ff0e::1";
        let inside: Vec<_> = inside.split_whitespace().collect();
        assert!(inside.len() >= 60, "{}", inside.len());
        for text in inside {
            assert!(!is_global(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_outside_is_global_up_to_the_borders() {
        for text in "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
            168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 \
            198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8 2001:200::1 2001:4860:4860::8888 2606:4700::1111 \
            2a00:1450::1 2001:db9::1 2003::1 3ffe::1 3fff:1000::1"
            .split_whitespace()
        {
            assert!(is_global(text.parse().unwrap()), "{text}");
        }
    }
}
