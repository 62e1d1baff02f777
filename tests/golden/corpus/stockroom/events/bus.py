"""Tells the parts of one process what happened, without their knowing one another."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping

Handler = Callable[[Mapping[str, object]], None]

_log = logging.getLogger(__name__)


class EventBus:
    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = defaultdict(list)

    def subscribe(self, event_type: str, handler: Handler) -> None:
        self._handlers[event_type].append(handler)

    def publish(self, event_type: str, payload: Mapping[str, object]) -> int:
        """Call every handler of the type, and return how many failed; one that fails does not stop the others."""
        failed = 0
        for handler in self._handlers[event_type]:
            try:
                handler(payload)
            except Exception:
                failed += 1
                _log.exception("%s failed on %s", handler, event_type)
        return failed
