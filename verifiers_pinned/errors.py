"""What can go wrong with a pinned source, each told with the pin, the file and what to do about it."""


class PinError(Exception):
    """A pinned source is not as its pin says."""


class FetchError(PinError):
    """A source could not be brought into the cache; what was fetched before is kept."""


class CheckoutError(PinError):
    """A directory given as a checkout is none, or not at the pinned commit."""
