import { closedObject, type Infer } from '../schema.ts'
import { appearanceFields } from './webchat-appearance.ts'

const fields = {
  allowedOrigins: {
    type: 'array',
    maxItems: 100,
    items: {
      type: 'string',
      maxLength: 300,
      pattern: '^(https?://[^/?#\\s@]+|null)$',
      description: 'Scheme, host and port without a path or a slash at the end.',
    },
    description:
      'Origins whose pages may use the web chat, such as `https://www.example.com`; `null` for pages without an origin. ' +
      'Absent: pages of all origins may.',
  },
  fileTypes: {
    type: 'array',
    maxItems: 100,
    items: {
      type: 'string',
      maxLength: 100,
      pattern: '^[a-z]+/(\\*|[a-z0-9][a-z0-9.+-]*)$',
      description: 'A type such as `image/png`, or `image/*`.',
    },
    description:
      'Types of the files that visitors may upload, such as `image/*` or `application/pdf`; none if empty. Absent: all types.',
  },
  encryptionKey: {
    type: 'string',
    minLength: 1,
    maxLength: 2000,
    description:
      'Secret with which your own server signs the keys of visitors: a JSON Web Token { id, exp }, HS256. The web chat is ' +
      'then closed to visitors without such a key.',
  },
  ...appearanceFields,
} as const

/** The configuration of a web chat. A misspelt field is refused, because the web chat would be open without it. */
export const webchatConfiguration = {
  ...closedObject({}, fields),
  propertyNames: { enum: Object.keys(fields) },
} as const

export type WebchatConfiguration = Infer<typeof webchatConfiguration>

/** The configuration of a web chat, which was validated when it was stored. */
export function webchatConfigurationOf({
  configuration,
}: {
  configuration: Record<string, unknown>
}): WebchatConfiguration {
  return configuration
}

/** The configuration for viewers who may not read its secrets. */
export function webchatWithoutSecrets({ encryptionKey: _key, ...shown }: WebchatConfiguration): WebchatConfiguration {
  return shown
}

/** Whether visitors may upload files of a type. */
export function isAllowedType({ fileTypes }: WebchatConfiguration, contentType: string): boolean {
  const [group = ''] = contentType.split('/')
  return fileTypes?.some((type) => type === contentType || type === `${group}/*`) ?? true
}

/** Host names may have characters that begin another directive. A policy gets only those that it needs. */
const originInPolicy = /^https?:\/\/[\w.:[\]-]+$/

/**
 * The origins whose pages may show the web chat in a frame, for a Content-Security-Policy. Pages without an origin cannot
 * be named there.
 */
export function frameAncestorsOf({ allowedOrigins }: WebchatConfiguration): string[] {
  if (allowedOrigins === undefined) return ['*']
  return ["'self'", ...allowedOrigins.map(normalised).filter((origin) => originInPolicy.test(origin))]
}

/**
 * Whether a page may use a web chat. Requests without an origin come from programs, from pages of the platform, and from
 * elements of other pages, such as `<img>`, which only `Sec-Fetch-Site` tells apart.
 *
 * @param site the header `Sec-Fetch-Site`
 * @param platformUrl the platform's own URL, whose pages always may
 */
export function isAllowedOrigin(
  { allowedOrigins }: WebchatConfiguration,
  { origin, site }: { origin: string | undefined; site: string | undefined },
  platformUrl: string,
): boolean {
  if (allowedOrigins === undefined) return true
  if (origin === undefined) return site !== 'cross-site' && site !== 'same-site'
  return allowedOrigins.some((one) => normalised(one) === origin) || URL.parse(platformUrl)?.origin === origin
}

/** Browsers send origins in lower case, and without the usual port. */
function normalised(origin: string): string {
  return origin === 'null' ? origin : (URL.parse(origin)?.origin ?? origin)
}
