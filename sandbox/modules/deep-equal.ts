/** Node's `util.isDeepStrictEqual`: values of the same type with the same own properties, to any depth. */
export function isDeepStrictEqual(one: unknown, other: unknown): boolean {
  return areEqual(one, other, new Map())
}

/** @param compared objects that are being compared further out, each with its counterpart: they count as equal */
function areEqual(one: unknown, other: unknown, compared: Map<unknown, unknown>): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  if (compared.get(one) === other) return true
  compared.set(one, other)
  if (isBoxed(one) && !Object.is(one.valueOf(), other.valueOf())) return false
  if (one instanceof RegExp && textOf(one) !== textOf(other as RegExp)) return false
  if (one instanceof Error && one.message !== (other as Error).message) return false
  if (one instanceof Map) return areEqual([...one], [...(other as Map<unknown, unknown>)], compared)
  if (one instanceof Set) return areEqual([...one], [...(other as Set<unknown>)], compared)
  const keys = Reflect.ownKeys(one).filter((key) => Object.prototype.propertyIsEnumerable.call(one, key))
  const others = Reflect.ownKeys(other).filter((key) => Object.prototype.propertyIsEnumerable.call(other, key))
  return (
    keys.length === others.length &&
    keys.every((key) => {
      const [inOne, inOther] = [one, other] as Record<PropertyKey, unknown>[]
      return Object.hasOwn(other, key) && areEqual(inOne![key], inOther![key], compared)
    })
  )
}

/** Whether an object has a value beside its properties. */
function isBoxed(value: object): boolean {
  return [Date, Number, String, Boolean].some((kind) => value instanceof kind)
}

function textOf({ source, flags }: RegExp): string {
  return `/${source}/${flags}`
}
