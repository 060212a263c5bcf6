import type { ErrorBody } from '#shared/errors.ts'
import { failed, unreachable, type Failure } from './failure.ts'
import { environmentName, type Profile } from './profiles.ts'

/** Failures for answers that are not what a command has asked for. */

/** The end of a sentence about a request whose answer is lost. */
export const unknownOutcome = 'whether the change was carried out is not known. Look before you repeat it'

/** The failure for a redirect, as from `http` to `https`. The address that it names may have the platform. */
export function redirected({ name, url }: Pick<Profile, 'name' | 'url'>, path: string, location: string): Failure {
  const target = URL.parse(location, `${url}${path}`)?.href ?? location
  const address = target.endsWith(path) ? target.slice(0, -path.length) : target
  const remedy =
    name === environmentName ? `set ISOBOT_URL to ${address}` : `log in with \`isobot login --url ${address}\``
  return unreachable(
    `The server at ${url} redirects to ${address}, where neither the token nor the request is sent: ` +
      `if the platform is there, ${remedy}`,
    { type: 'Unreachable' },
  )
}

/**
 * The failure for an answer that is not the platform's: that of a proxy before it, or of another service.
 *
 * @param isChange whether the request may have changed something
 */
export function notIsobot(platform: Pick<Profile, 'url'>, answer: ForeignAnswer): Failure {
  const ofProxy = refusedByProxy(platform, answer)
  if (ofProxy) return ofProxy
  const details = { status: answer.status }
  return unreachable(`The server at ${platform.url} is not Isobot: ${summaryOf(answer)}`, {
    type: 'Unreachable',
    details,
  })
}

interface ForeignAnswer {
  status: number
  text: string
  isChange?: boolean
  /** The size of the largest request that a proxy should pass. */
  largest?: string
}

/** The failure for an answer that proxies give in the place of the platform; undefined for another status. */
export function refusedByProxy({ url }: Pick<Profile, 'url'>, answer: ForeignAnswer): Failure | undefined {
  const { status, isChange = false, largest = '50 MB' } = answer
  const options = { type: 'Unreachable', details: { status } }
  const summary = summaryOf(answer)
  if ([502, 503, 504].includes(status)) {
    // A proxy answers 503 in the place of a platform that it has not asked.
    const next = isChange && status !== 503 ? `: ${unknownOutcome}` : '. Try again later'
    return unreachable(`${url} cannot answer now: a proxy before the platform answers ${summary}${next}`, options)
  }
  if (status === 413) {
    return failed(
      `A proxy before ${url} refuses a request of this size (${summary}): raise its limit, ` +
        `as client_max_body_size of nginx, to ${largest}`,
      options,
    )
  }
  if (status === 429)
    return failed(`A proxy before ${url} refuses further requests (${summary}): wait a while`, options)
  return undefined
}

/** The status, and the title of a page or the first line of a text. Titles of nginx begin with the status. */
function summaryOf({ status, text }: ForeignAnswer): string {
  const head = text.slice(0, 10_000)
  const [, title] = /<title>([^<]*)/i.exec(head) ?? []
  const words = (title ?? head).trim().split('\n')[0]!.slice(0, 200)
  return words.startsWith(String(status)) ? words : `${status} ${words}`.trim()
}

/** The failure for a refusal by the platform, with the remedy. */
export function refusal(
  { name, url }: Pick<Profile, 'name' | 'url'>,
  status: number,
  body: Partial<ErrorBody>,
): Failure {
  const { id, type, message, metadata } = body
  if (type === undefined || message === undefined) return notIsobot({ url }, { status, text: JSON.stringify(body) })
  const options = { type, details: { ...(metadata && { metadata }), id, status } }
  if (status === 401) {
    const isFromEnvironment = name === environmentName
    const refused = isFromEnvironment ? 'the token in ISOBOT_TOKEN' : `the token of the profile "${name}"`
    const remedy = isFromEnvironment
      ? 'Set ISOBOT_TOKEN to a valid one, or unset ISOBOT_URL and ISOBOT_TOKEN to use a profile'
      : `Log in again with \`isobot login --url ${url}\``
    return unreachable(`${url} does not accept ${refused} (${message}). ${remedy}`, options)
  }
  if (status === 503) return unreachable(`${url} cannot answer now: ${message}`, options)
  return failed(status === 500 ? `${message} (${id})` : message, options)
}
