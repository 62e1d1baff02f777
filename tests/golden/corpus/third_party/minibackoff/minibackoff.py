"""minibackoff 0.3: retry a call with exponential backoff and jitter. Copied in, since it is not on the index."""

import random
import time


class GiveUp(Exception):
    """All attempts failed; `cause` is what the last one raised."""

    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


def retry(call, attempts=5, delay=0.1, factor=2.0, jitter=0.5, errors=(Exception,)):
    """Call until it succeeds; the delay grows by the factor after each failure, with jitter."""
    for attempt in range(attempts):
        try:
            return call()
        except errors as error:
            if attempt + 1 == attempts:
                raise GiveUp(error) from error
            time.sleep(delay * (1 + random.uniform(-jitter, jitter)))
            delay *= factor
