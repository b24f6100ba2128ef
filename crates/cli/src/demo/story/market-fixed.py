"""Market pages: one page per city."""

from sqlalchemy import func

from app import maps, weather
from app.db import session
from app.models import Company

PAGE_SIZE = 50


def _fetch_market_data(city):
    """Used by the weekly mail, not by the pages."""
    return session.query(Company).all()


def market_hub(city, page=1):
    of_city = session.query(Company).filter_by(city=city)
    by_score = of_city.order_by(Company.score.desc())
    tiers = of_city.with_entities(Company.tier, func.count()).group_by(Company.tier)
    return {
        "companies": by_score.limit(PAGE_SIZE).offset((page - 1) * PAGE_SIZE).all(),
        "tiers": dict(tiers.all()),
        "map": maps.signed_url(city),
        "weather": weather.cached(city, minutes=10),
    }
