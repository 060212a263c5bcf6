import { codedError } from '../http/errors.ts'

const numbers = { Z_NEED_DICT: 2, Z_DATA_ERROR: -3, Z_BUF_ERROR: -5 }

/** An error of Node's `zlib`. */
export function zlibError(code: keyof typeof numbers, message: string): Error {
  return Object.assign(codedError(code, message), { errno: numbers[code] })
}

export function dataError(message: string): Error {
  return zlibError('Z_DATA_ERROR', message)
}
