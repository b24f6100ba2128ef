"""Market pages: one page per city."""

import logging

from app import maps, weather
from app.db import session
from app.models import Company

PAGE_SIZE = 50
log = logging.getLogger(__name__)


def _fetch_market_data(city):
    """Used by the weekly mail, not by the pages."""
    return session.query(Company).all()


def market_hub(city, page=1):
    companies = session.query(Company).filter_by(city=city).all()
    companies.sort(key=lambda company: company.score, reverse=True)
    start = (page - 1) * PAGE_SIZE
    return {
        "companies": companies[start : start + PAGE_SIZE],
        "tiers": {tier: sum(c.tier == tier for c in companies) for tier in (1, 2, 3)},
        "map": maps.signed_url(city),
        "weather": weather.current(city, timeout=3),
    }
