// The view and the questions in the address of the page, so that a link restores them. Nothing is sent anywhere: what
// follows the # of an address stays in the browser.

const LONGEST = 4000; // letters; questions that would not fit are left out, the oldest first
const DIGITS = 6; // after the point

/** A place on the map, a view, names of slices and questions, the oldest first, as the end of an address. */
export function toAddress({ at, show, asked, slices = [] }) {
  const shown = `${show}${slices.map((name) => `&slice=${encodeURIComponent(name)}`).join("")}`;
  const parts = asked.map(({ kind, ring }) => [kind, ...ring.flat().map(rounded)].join(","));
  let text;
  do text = `#at=${at.map(rounded).join(",")}&show=${shown}${parts.map((part) => `&ask=${part}`).join("")}`;
  while (text.length > LONGEST && parts.shift());
  return text;
}

/** What an address says; what cannot be understood is passed over. */
export function fromAddress(hash, views) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const at = numbers(fields.get("at") ?? "");
  const show = fields.get("show");
  return {
    at: at?.length === 3 ? at : null,
    show: views.includes(show) ? show : null,
    asked: fields.getAll("ask").flatMap(question),
    slices: fields.getAll("slice"),
  };
}

function question(text) {
  const [kind, ...rest] = text.split(",");
  const values = numbers(rest.join(","));
  const corners = kind === "box" ? 4 : 3;
  if (!["box", "polygon"].includes(kind) || !values || values.length % 2 || values.length < 2 * corners) return [];
  return [{ kind, ring: Array.from({ length: values.length / 2 }, (_, i) => [values[2 * i], values[2 * i + 1]]) }];
}

function numbers(text) {
  const values = text.split(",").map((part) => (part.trim() ? Number(part) : NaN));
  return values.every(Number.isFinite) ? values : null;
}

function rounded(value) {
  return String(Number(value.toFixed(DIGITS)));
}
