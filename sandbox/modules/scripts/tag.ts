import { process } from '../aliases/process.ts'
import type { Provide } from '../provide.ts'

/** Gives `process` the tag of Node's, by which libraries decide to use `http`. */
export const provide: Provide = () => {
  Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true })
  return {}
}
