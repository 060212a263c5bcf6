import type { Config } from '../config/config.ts'
import { signFileAddress, isSignature } from '../secrets.ts'

/**
 * Addresses of files, outside of the API: one-time addresses for uploads, and addresses of contents. Each holds all that it
 * says, signed with a key that is derived from the platform's secret, except the public ones, which are random and stored.
 */

type Needs = Pick<Config, 'secret' | 'http'>

/** An upload address is valid this long; the sweep gives up files whose content has not come by then. */
export const uploadAddressMilliseconds = 24 * 3600 * 1000
/** The address of a private content is valid this long. */
export const contentAddressMilliseconds = 3600 * 1000

/** The purpose of a signed address, as its first letter. */
const purposes = { upload: 'u', content: 'c' } as const

export type AddressPurpose = keyof typeof purposes

/** The claims of a signed address. */
export interface SignedAddress {
  fileId: string
  /** The upsert that the address belongs to. */
  generation: number
  expiresAt: Date
  /** Upper bound of the content, in bytes, where the size that was announced binds. */
  maxBytes?: number
}

/** The address to which the content of a file is sent. Another upsert of the file makes it invalid, and so does its use. */
export function uploadAddress(config: Needs, upload: Omit<SignedAddress, 'expiresAt'>): string {
  const expiresAt = new Date(Date.now() + uploadAddressMilliseconds)
  return `${config.http.baseUrl}/files/upload/${sign(config, 'upload', { ...upload, expiresAt })}`
}

/** The columns of a file that its address is made from. */
export interface AddressedFile {
  id: string
  key: string
  generation: number
  public_id: string | null
  access_policies: string[]
}

/** The address of a file's content: permanent for public content, else valid for an hour. It ends in the key's last segment. */
export function contentAddress(config: Needs, file: AddressedFile): string {
  const { id: fileId, key, generation, public_id: publicId, access_policies: policies } = file
  const expiresAt = new Date(Date.now() + contentAddressMilliseconds)
  const isPublic = publicId !== null && policies.includes('public_content')
  const name = isPublic ? publicId : sign(config, 'content', { fileId, generation, expiresAt })
  return `${config.http.baseUrl}/files/${name}/${encodeURIComponent(fileName(key))}`
}

/** The last segment of a key, as a file's name. */
export function fileName(key: string): string {
  const last = key.slice(key.lastIndexOf('/') + 1).toWellFormed()
  // Parsers of URLs remove segments of dots.
  return /^\.{0,2}$/.test(last) ? 'file' : last
}

/**
 * Reads a signed address.
 *
 * @param token the signed segment of the path
 * @returns undefined when the platform has not signed it for this purpose; the caller checks the expiry
 */
export function readSignedAddress(
  { secret }: Pick<Config, 'secret'>,
  purpose: AddressPurpose,
  token: string,
): SignedAddress | undefined {
  const end = token.lastIndexOf('.')
  const said = token.slice(0, Math.max(0, end))
  if (!isSignature(secret, token.slice(end + 1), (each) => signFileAddress(each, said))) return undefined
  const [letter, fileId = '', generation, expiry = '', bytes] = said.split('.')
  if (letter !== purposes[purpose]) return undefined
  return {
    fileId,
    generation: Number(generation),
    expiresAt: new Date(Number.parseInt(expiry, 36)),
    ...(bytes !== undefined && { maxBytes: Number(bytes) }),
  }
}

function sign({ secret }: Needs, purpose: AddressPurpose, address: SignedAddress): string {
  const { fileId, generation, expiresAt, maxBytes } = address
  const bound = maxBytes === undefined ? '' : `.${maxBytes}`
  const said = `${purposes[purpose]}.${fileId}.${generation}.${expiresAt.getTime().toString(36)}${bound}`
  return `${said}.${signFileAddress(secret.current, said)}`
}
