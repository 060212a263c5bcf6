import { ApiError } from '../errors.ts'

/** The token of the next page of a file's passages: the position of the last one. */
export function encodeCursor(position: number): string {
  return Buffer.from(`p${position}`).toString('base64url')
}

/** @throws ApiError `InvalidQuery` when the token is not one of the platform's */
export function decodeCursor(token: string): number {
  const [, digits] = /^p(\d{1,9})$/.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (digits === undefined) throw new ApiError('InvalidQuery', 'nextToken is not a token of this list')
  return Number(digits)
}
