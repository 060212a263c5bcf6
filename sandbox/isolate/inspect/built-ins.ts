import { getOwnPropertyDescriptor, getPrototypeOf, uncurry, type Method } from '../primordials.ts'

/* oxlint-disable typescript/unbound-method -- `uncurry` is what binds them. */

/** The built-ins that only inspections use, saved as those in `primordials.ts`, which the preludes have too. */

export const ownNames = Object.getOwnPropertyNames
export const ownSymbols = Object.getOwnPropertySymbols
export const { isError } = Error
export const { floor, max, min, round, sqrt } = Math

export const repeatText = uncurry(String.prototype.repeat as Method<string, [number], string>)
export const padStart = uncurry(String.prototype.padStart as Method<string, [number], string>)
export const padEnd = uncurry(String.prototype.padEnd as Method<string, [number], string>)
export const charCode = uncurry(String.prototype.charCodeAt as Method<string, [number], number>)
export const codePoint = uncurry(String.prototype.codePointAt as Method<string, [number], number | undefined>)
export const numberValue = uncurry(Number.prototype.valueOf as Method<object, [], number>)
export const stringValue = uncurry(String.prototype.valueOf as Method<object, [], string>)
export const booleanValue = uncurry(Boolean.prototype.valueOf as Method<object, [], boolean>)
export const bigintValue = uncurry(BigInt.prototype.valueOf as Method<object, [], bigint>)
export const symbolValue = uncurry(Symbol.prototype.valueOf as Method<object, [], symbol>)
export const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable as Method<object, [PropertyKey], boolean>)
type Compare = (one: string, other: string) => number
export const sortList = uncurry(Array.prototype.sort as Method<string[], [Compare | undefined], string[]>)

/** A getter as a function; it throws a TypeError for an object of another class. */
function getterOf(prototype: object, name: PropertyKey): (self: unknown) => unknown {
  return uncurry(getOwnPropertyDescriptor(prototype, name)!.get as Method<unknown, [], unknown>)
}

type Getter<Result> = (self: unknown) => Result
const typedArray = getPrototypeOf(Uint8Array.prototype) as object
export const mapSize = getterOf(Map.prototype, 'size') as Getter<number>
export const setSize = getterOf(Set.prototype, 'size') as Getter<number>
export const typedLength = getterOf(typedArray, 'length') as Getter<number>
/** The name of the class of a typed array; undefined for any other value. */
export const typedName = getterOf(typedArray, Symbol.toStringTag) as Getter<string | undefined>
export const viewLength = getterOf(DataView.prototype, 'byteLength') as Getter<number>
export const viewOffset = getterOf(DataView.prototype, 'byteOffset') as Getter<number>
export const viewBuffer = getterOf(DataView.prototype, 'buffer') as Getter<ArrayBuffer>

type Next = { done?: boolean; value: unknown }
export const mapEntries = uncurry(Map.prototype.entries as Method<object, [], object>)
export const setValues = uncurry(Set.prototype.values as Method<object, [], object>)
export const nextOfMap = uncurry(
  (getPrototypeOf(new Map().entries()) as Iterator<unknown>).next as Method<object, [], Next>,
)
export const nextOfSet = uncurry(
  (getPrototypeOf(new Set().values()) as Iterator<unknown>).next as Method<object, [], Next>,
)
