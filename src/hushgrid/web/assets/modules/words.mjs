// Numbers and answers in words.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const fine = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A count, rounded to a whole number. */
export function countText(count) {
  return whole.format(Math.round(count) || 0); // no "-0"
}

/** A measure with three digits. */
export function measureText(value) {
  return fine.format(value);
}

/** Square kilometres in words, or square metres where there are few. */
export function areaText(area) {
  return area < 0.01 ? `${measureText(1e6 * area)} m²` : `${measureText(area)} km²`;
}

/** A density in few letters: 12.3, 0.0123, 1.2e-4. */
export function densityText(value) {
  return value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : fine.format(value);
}

/** A round number in few letters: 0.01, 1, 100, 10K, and powers of ten far below one. */
export function powerText(value) {
  if (value >= 0.001) return short.format(value);
  return `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[Math.round(-Math.log10(value))] ?? "⁹"}`;
}

/** The bounds of an answer: an interval with its confidence, or a range by noise alone. */
export function intervalText({ low, high }, { afterBounds }) {
  return `${countText(low)} to ${countText(high)} ${afterBounds.replace(" %", "\u00a0%")}`;
}

/** An answer as one sentence. */
export function sentence(answer, { counted, afterBounds }) {
  const count = countText(answer.estimate);
  return `About ${count} ${count === "1" ? counted.replace(/s( in all)?$/, "$1") : counted}, ${intervalText(answer, { afterBounds })}.`;
}

export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

export function lowered(text) {
  return text[0].toLowerCase() + text.slice(1);
}

/** A place in degrees, or in the coordinates of a plane, as finely as a pixel of this size. */
export function placeText({ lng, lat }, geographic, pixel) {
  const digits = Math.min(Math.max(Math.ceil(-Math.log10(pixel)), 0), 6);
  if (!geographic) return `${lng.toFixed(digits)}, ${lat.toFixed(digits)}`;
  const degrees = (value, [plus, minus]) => `${Math.abs(value).toFixed(digits)}°\u00a0${value < 0 ? minus : plus}`;
  return `${degrees(lat, "NS")}, ${degrees(lng, "EW")}`;
}

/** West, south, east, north. */
export function boundsText(bounds) {
  return bounds.map((bound) => String(Number(bound.toPrecision(10)))).join(", ");
}
