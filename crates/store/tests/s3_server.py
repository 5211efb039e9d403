"""moto's S3, one request at a time: `python s3_server.py PORT`.

moto looks at a condition and writes later, on a thread for each connection. On a busy machine two writers that meet
were seen to win both, which S3 never lets happen (and the start-up probe refuses).
"""

import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

LOCK = threading.Lock()
MOTO = DomainDispatcherApplication(create_backend_app)


def application(environ, start_response):
    with LOCK:
        answer = MOTO(environ, start_response)
        try:
            return list(answer)
        finally:
            getattr(answer, "close", lambda: None)()


run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=True)
