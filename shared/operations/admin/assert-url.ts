import type { Config } from '../../config/config.ts'
import { ApiError } from '../../errors.ts'
import { tunnelOf } from '../../models/tunnel.ts'

/** The field with the address of code that runs on its author's machine. */
export const codeUrl = {
  type: 'string',
  maxLength: 2000,
  description:
    'The address of the code, which runs there and not in an isolate: that of a tunnel, as `bp dev` sends it, or of a ' +
    'public host. Only with `dev: true`.',
} as const

/**
 * Checks the address of code. Requests to it are checked again, when the address of its host is known.
 *
 * @param url null or undefined for none
 * @param isDev whether the bot or the integration is under development
 * @throws ApiError `InvalidPayload`
 */
export function assertUrl({ http }: Config, url: string | null | undefined, isDev: boolean): void {
  if (url === undefined || url === null) return
  if (!isDev) throw new ApiError('InvalidPayload', 'url: only with dev: true; other code is uploaded, as code')
  const parsed = URL.parse(url)
  const isPlain = parsed && parsed.username === '' && parsed.password === '' && parsed.hash === ''
  if (!isPlain || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new ApiError('InvalidPayload', 'url: must be an http or https URL without user and password')
  }
  if (tunnelOf(url, http.baseUrl) === '') {
    throw new ApiError('InvalidPayload', 'url: is an address of the platform, and not that of a tunnel')
  }
}
