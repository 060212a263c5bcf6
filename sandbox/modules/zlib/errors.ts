import { codedError } from '../../prelude/node-errors.ts'

const codes = {
  2: 'Z_NEED_DICT',
  [-2]: 'Z_STREAM_ERROR',
  [-3]: 'Z_DATA_ERROR',
  [-4]: 'Z_MEM_ERROR',
  [-5]: 'Z_BUF_ERROR',
}

export type FailedStatus = keyof typeof codes

/** The error that Node makes of a status of zlib. */
export function zlibError(status: FailedStatus, message: string): Error {
  return Object.assign(codedError(codes[status], message), { errno: status })
}
