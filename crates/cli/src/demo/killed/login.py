"""Login tokens of the shop."""

import time

LIFETIME = 5 * 60


def issue(user):
    return {"user": user, "expires": time.time() + LIFETIME}


def is_valid(token):
    return token["expires"] > time.time()
