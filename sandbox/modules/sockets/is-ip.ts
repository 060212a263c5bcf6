const byte = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`
const fourBytes = new RegExp(`^${byte}(?:\\.${byte}){3}$`)

/** 4, 6 or, for anything else, 0. */
export function isIP(given: unknown): number {
  const text = String(given)
  if (fourBytes.test(text)) return 4
  return text.includes(':') && URL.canParse(`http://[${text.replace(/%.*$/, '')}]/`) ? 6 : 0
}
