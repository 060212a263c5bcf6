import type { Request } from 'express'

/** The value of a request's cookie; of several with the name, the first. */
export function readCookie({ headers }: Request, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1)
}
