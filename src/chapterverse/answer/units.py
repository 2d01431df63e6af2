"""Units of measure and money, by every name they go under."""

from __future__ import annotations

import re

_UNITS = {
    "%": "% percent|per cent",
    "point": "|percentage points|percentage point|percent points|per cent points",
    "£": "£ pound pounds sterling quid gbp",
    "$": "$ dollar dollars usd",
    "€": "€ euro euros eur",
    "¥": "¥ yen jpy",
    "shilling": "shilling shillings",
    "penny": "penny pence pennies p",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "m": "m metre metres meter meters",
    "km": "km kilometre kilometres kilometer kilometers",
    "inch": "inch inches",
    "foot": "foot feet ft",
    "yard": "yard yards yd",
    "mile": "mile miles mi",
    "mg": "mg milligram milligrams milligramme milligrammes",
    "g": "g gram grams gramme grammes",
    "kg": "kg kilo kilos kilogram kilograms kilogramme kilogrammes",
    "tonne": "tonne tonnes ton tons",
    "ounce": "ounce ounces oz",
    "lb": "lb lbs",
    "cwt": "cwt hundredweight hundredweights",
    "ml": "ml millilitre millilitres milliliter milliliters",
    "l": "litre litres liter liters",
    "gallon": "gallon gallons",
    "hectare": "hectare hectares ha",
    "acre": "acre acres",
    "second": "second seconds sec secs s",
    "minute": "minute minutes min mins",
    "hour": "hour hours hr hrs h",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "decade": "decade decades",
    "century": "century centuries",
    "°C": "°c celsius centigrade|degrees celsius|degree celsius|degrees centigrade|degrees c",
    "°F": "°f fahrenheit|degrees fahrenheit|degree fahrenheit|degrees f",
    "°": "° degree degrees",
    "bar": "bar bars",
    "volt": "volt volts v",
    "watt": "watt watts w",
    "kw": "kw kilowatt kilowatts",
    "mw": "mw megawatt megawatts",
    "kwh": "kwh|kilowatt hours|kilowatt-hours",
    "hz": "hz hertz",
    "khz": "khz kilohertz",
    "mhz": "mhz megahertz",
    "ghz": "ghz gigahertz",
    "kb": "kb kilobyte kilobytes",
    "mb": "mb megabyte megabytes",
    "gb": "gb gigabyte gigabytes",
    "tb": "tb terabyte terabytes",
    "ms": "ms millisecond milliseconds",
    "mph": "mph|miles per hour|miles an hour",
    "times": "times",
    "km/h": "km/h kph|kilometres per hour|kilometers per hour|kilometres an hour",
}
_UNIT_OF = {
    form: name for name, forms in _UNITS.items() for form in [*forms.split("|")[0].split(), *forms.split("|")[1:]]
}
_FORMS = "|".join(re.escape(form) for form in sorted(_UNIT_OF, key=len, reverse=True))
UNIT = re.compile(rf"(?:(?P<article>\s(?:of\s)?(?:an?|the)\s)|[\s-]?)(?P<form>{_FORMS})(?!\w|\.\s?m\b)", re.IGNORECASE)
"""A unit right behind a number: "9 kg", "thirty-foot", "half an hour". Only a fraction takes an article."""


def unit_of(form: str) -> str:
    """The unit that a word or sign stands for, or an empty string."""
    return _UNIT_OF.get(form.lower(), "")
