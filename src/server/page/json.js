// JSON that keeps every digit: an integer that no JavaScript number holds exactly is a BigInt.

const LARGE = /(?<![\w.])\d{16,}(?![\d.eE])/; // what may be one
const exact = (_, value, { source } = {}) => (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value);

export const parse = (text) => (LARGE.test(text) ? JSON.parse(text, exact) : JSON.parse(text));

export const print = (value, indent) => JSON.stringify(value, (_, one) => (typeof one === "bigint" ? JSON.rawJSON(String(one)) : one), indent);
