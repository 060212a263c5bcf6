/** Node's `util.isDeepStrictEqual`: values of the same type with the same own properties, to any depth. */
export function isDeepStrictEqual(one: unknown, other: unknown): boolean {
  return areEqual(one, other, new Map())
}

/** Objects that are being compared further out, each with its counterpart: they count as equal. */
type Compared = Map<unknown, unknown>

function areEqual(one: unknown, other: unknown, compared: Compared): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  const kind = kindOf(one)
  if (kind !== kindOf(other)) return false
  if (compared.has(one)) return compared.get(one) === other
  compared.set(one, other)
  const equal = haveEqualSlots(kind, one, other, compared) && haveEqualProperties(one, other, compared)
  compared.delete(one)
  return equal
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

/** Compares what objects have beside their properties. */
function haveEqualSlots(kind: string, one: object, other: object, compared: Compared): boolean {
  if (one instanceof Error) return haveEqualErrors(one, other as Error, compared)
  if (one instanceof Map) return haveEqualEntries(one, other as Map<unknown, unknown>, compared)
  if (one instanceof Set) return haveEqualMembers(one, other as Set<unknown>, compared)
  if (one instanceof Promise || one instanceof WeakMap || one instanceof WeakSet) return false
  if (one instanceof URL) return one.href === (other as URL).href
  if (one instanceof RegExp) {
    const { source, flags, lastIndex } = other as RegExp
    return one.source === source && one.flags === flags && one.lastIndex === lastIndex
  }
  if (ArrayBuffer.isView(one) || one instanceof ArrayBuffer) return haveEqualBytes(one, other as ArrayBuffer)
  if (Array.isArray(one)) return one.length === (other as unknown[]).length
  const isBoxed = ['Date', 'Number', 'String', 'Boolean', 'BigInt', 'Symbol'].includes(kind)
  return !isBoxed || Object.is(one.valueOf(), other.valueOf())
}

function haveEqualErrors(one: Error, other: Error, compared: Compared): boolean {
  const keys = ['cause', 'errors'] as const
  const [first, second] = [one, other] as (Error & { errors?: unknown })[]
  return (
    one.message === other.message &&
    one.name === other.name &&
    keys.every(
      (key) => Object.hasOwn(one, key) === Object.hasOwn(other, key) && areEqual(first![key], second![key], compared),
    )
  )
}

function haveEqualBytes(one: ArrayBufferView | ArrayBuffer, other: ArrayBufferView | ArrayBuffer): boolean {
  const [first, second] = [bytesOf(one), bytesOf(other)]
  if (first.length !== second.length) return false
  // Floats are compared as numbers: NaN has many forms.
  const numbers = [one, other] as unknown as ArrayLike<number>[]
  if (kindOf(one).startsWith('Float')) {
    return Array.from(numbers[0]!).every((value, index) => Object.is(value, numbers[1]![index]))
  }
  return first.every((byte, index) => byte === second[index])
}

function bytesOf(value: ArrayBufferView | ArrayBuffer): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value)
}

/** Members have no order; primitive ones are found without a search. */
function haveEqualMembers(one: Set<unknown>, other: Set<unknown>, compared: Compared): boolean {
  if (one.size !== other.size) return false
  const rest = new Set<unknown>([...other].filter((member) => typeof member === 'object' && member !== null))
  for (const member of one) {
    if (other.has(member)) rest.delete(member)
    else if (!takeEqual(member, rest, compared)) return false
  }
  return true
}

function haveEqualEntries(one: Map<unknown, unknown>, other: Map<unknown, unknown>, compared: Compared): boolean {
  if (one.size !== other.size) return false
  const rest = new Set<unknown>([...other].filter(([key]) => typeof key === 'object' && key !== null))
  for (const [key, value] of one) {
    if (typeof key !== 'object' || key === null) {
      if (!other.has(key) || !areEqual(value, other.get(key), compared)) return false
    } else if (!takeEqual([key, value], rest, compared)) return false
  }
  return true
}

/** Removes the first candidate that equals a value, if there is one. */
function takeEqual(value: unknown, candidates: Set<unknown>, compared: Compared): boolean {
  for (const candidate of candidates) {
    if (areEqual(value, candidate, compared)) return candidates.delete(candidate)
  }
  return false
}

function haveEqualProperties(one: object, other: object, compared: Compared): boolean {
  // Elements have been compared as bytes.
  const hasElements = ArrayBuffer.isView(one) && !(one instanceof DataView)
  const [keys, others] = [one, other].map((object) => keysOf(object, hasElements)) as [PropertyKey[], PropertyKey[]]
  return (
    keys.length === others.length &&
    keys.every((key) => {
      const [inOne, inOther] = [one, other] as Record<PropertyKey, unknown>[]
      return Object.prototype.propertyIsEnumerable.call(other, key) && areEqual(inOne![key], inOther![key], compared)
    })
  )
}

function keysOf(object: object, hasElements: boolean): PropertyKey[] {
  return Reflect.ownKeys(object).filter(
    (key) =>
      Object.prototype.propertyIsEnumerable.call(object, key) &&
      !(hasElements && typeof key === 'string' && /^\d+$/.test(key)),
  )
}
