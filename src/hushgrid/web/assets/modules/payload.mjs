// The arrays of the page, from compressed text back to numbers; payload.py writes them.

/** Bytes of base64 text that was compressed with gzip. */
export async function unpack(text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Arrays by name. `contents` lists name, length and number of planes of each, in the order of the bytes. */
export function readArrays(bytes, contents) {
  const arrays = {};
  let start = 0;
  for (const [name, length, planes] of contents) {
    arrays[name] = readNumbers(bytes, start, length, planes);
    start += length * planes;
  }
  return arrays;
}

/** The arrays of one slice, by the names that a page of one release has. */
export function arraysOf(arrays, before) {
  const names = Object.keys(arrays).filter((name) => name.startsWith(before));
  return Object.fromEntries(names.map((name) => [name.slice(before.length), arrays[name]]));
}

/** Signed numbers whose sign is their lowest bit, lowest bytes of all of them first. */
function readNumbers(bytes, start, length, planes) {
  const numbers = new Float64Array(length);
  const lower = Math.min(planes, 3); // planes that make a small integer, which is fast
  for (let i = 0; i < length; i++) {
    let [low, high] = [0, 0];
    for (let plane = lower - 1; plane >= 0; plane--) low = (low << 8) | bytes[start + plane * length + i];
    for (let plane = planes - 1; plane >= 3; plane--) high = high * 256 + bytes[start + plane * length + i];
    const half = high * 2 ** 23 + (low >> 1);
    numbers[i] = low & 1 ? -half - 1 : half;
  }
  return numbers;
}
