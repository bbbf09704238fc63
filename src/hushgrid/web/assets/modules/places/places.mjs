// The places that have names on this map, the largest first; gazetteer.py chooses them.

const INHABITANTS_PER_KM2 = 2500; // of a town, roughly: how much of the map shows one
const SMALLEST_TOWN = 3000; // metres across
const UNACCENTED = { æ: "ae", đ: "d", ð: "d", ı: "i", ł: "l", ø: "o", œ: "oe", ß: "ss", þ: "th" };
const COORDINATES =
  /^([-+]?\d+(?:\.\d+)?)\s*°?\s*([NS]?)\s*[\s,;]\s*([-+]?\d+(?:\.\d+)?)\s*°?\s*([EW]?)$/i;

/** Places out of the payload: name, position, population, and the name as it is searched for. */
export function readPlaces({ steps }, { placeX, placeY, placeSizes, placeNames }) {
  if (!placeX.length) return [];
  const names = new TextDecoder().decode(Uint8Array.from(placeNames)).split("\n");
  return names.map((name, i) => ({
    name,
    at: L.latLng(placeY[i] / steps, placeX[i] / steps),
    population: placeSizes[i],
    plain: plainName(name),
  }));
}

/** A name without accents, capitals and punctuation. */
export function plainName(name) {
  const letters = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const plain = letters.replace(/[^\x00-\x7f]/g, (letter) => UNACCENTED[letter] ?? letter);
  return plain.replace(/['’ʻ`.]/g, "").replace(/[\s\-/()]+/g, " ").trim();
}

/** Up to `most` places with a word that begins as `text` does; those of exactly that name first, then the largest. */
export function placesNamed(places, text, most) {
  const wanted = plainName(text);
  if (!wanted) return [];
  const found = places.filter(({ plain }) => ` ${plain}`.includes(` ${wanted}`));
  const [same, longer] = [found.filter(({ plain }) => plain === wanted), found.filter(({ plain }) => plain !== wanted)];
  return [...same, ...longer].slice(0, most);
}

/** A place typed as latitude and longitude, such as "40.7, -74" or "40.7° N, 74° W", or null. */
export function typedPlace(text) {
  const [, lat, ns, lng, ew] = text.trim().match(COORDINATES) ?? [];
  if (lat === undefined) return null;
  const signed = (number, letter) => (/[SW]/i.test(letter) ? -1 : 1) * Number(number);
  return { name: text.trim(), at: L.latLng(signed(lat, ns), signed(lng, ew)), population: 0 };
}

/** What to show of the map for a place: a town as large as its population, and not too little of the domain. */
export function surroundings({ at, population }, least) {
  return at.toBounds(Math.max(1000 * Math.sqrt(population / INHABITANTS_PER_KM2), SMALLEST_TOWN, least));
}
