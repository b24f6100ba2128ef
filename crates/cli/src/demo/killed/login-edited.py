"""Login tokens of the shop."""

import time

LIFETIME = 5 * 60


def issue(user):
    return {"user": user, "expires": time.time() + LIFETIME}


def renew(token):
    """Each request renews the token."""
    return issue(token["user"])


def is_valid(token):
    return token["expires"] > time.time()
