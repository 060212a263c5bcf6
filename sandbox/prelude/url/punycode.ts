/** Punycode (RFC 3492), the encoding of Unicode labels in ASCII. */

const base = 36
const smallest = 1
const largest = 26
const skew = 38
const damping = 700
const firstBias = 72
const firstPoint = 128
const digits = 'abcdefghijklmnopqrstuvwxyz0123456789'

function adapt(delta: number, points: number, isFirst: boolean): number {
  let scaled = isFirst ? Math.floor(delta / damping) : delta >> 1
  scaled += Math.floor(scaled / points)
  let bias = 0
  for (; scaled > ((base - smallest) * largest) >> 1; bias += base) scaled = Math.floor(scaled / (base - smallest))
  return bias + Math.floor(((base - smallest + 1) * scaled) / (scaled + skew))
}

function threshold(position: number, bias: number): number {
  return Math.min(Math.max(position - bias, smallest), largest)
}

export function encodePunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0)!)
  let encoded = points
    .filter((point) => point < firstPoint)
    .map((point) => String.fromCharCode(point))
    .join('')
  const basic = encoded.length
  if (basic > 0) encoded += '-'
  let delta = 0
  let bias = firstBias
  let handled = basic
  for (let next = firstPoint; handled < points.length; next += 1, delta += 1) {
    const lowest = Math.min(...points.filter((point) => point >= next))
    delta += (lowest - next) * (handled + 1)
    next = lowest
    for (const point of points) {
      if (point < next) delta += 1
      if (point !== next) continue
      encoded += encodeDelta(delta, bias)
      bias = adapt(delta, handled + 1, handled === basic)
      delta = 0
      handled += 1
    }
  }
  return encoded
}

function encodeDelta(delta: number, bias: number): string {
  let encoded = ''
  let left = delta
  for (let position = base; ; position += base) {
    const limit = threshold(position, bias)
    if (left < limit) return encoded + digits[left]!
    encoded += digits[limit + ((left - limit) % (base - limit))]!
    left = Math.floor((left - limit) / (base - limit))
  }
}
