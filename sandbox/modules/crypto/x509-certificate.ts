import { codedError, invalidType } from '../../prelude/node-errors.ts'
import { contentAt, readElements, readSequence, tags, writeElement, type Element } from '../../prelude/subtle/der.ts'
import { readDer, toPublic, type AsymmetricKey } from './asymmetric-key.ts'
import { hashCalled, toBytes } from './digests.ts'
import { KeyObject } from './key-object.ts'
import { findPem, writePem } from './pem.ts'
import { extensionsOf, type Extensions } from './x509-extensions.ts'
import { readName, readTime } from './x509-names.ts'
import { verify } from './signatures.ts'

type Bytes = Uint8Array<ArrayBuffer>

const versionTag = 0xa0

/** The algorithms of signatures of certificates: the kind of the key, and the hash. */
const algorithms: Record<string, { kind: AsymmetricKey['kind']; hash: string | null }> = {
  '2a864886f70d010105': { kind: 'rsa', hash: 'sha1' },
  '2a864886f70d01010b': { kind: 'rsa', hash: 'sha256' },
  '2a864886f70d01010c': { kind: 'rsa', hash: 'sha384' },
  '2a864886f70d01010d': { kind: 'rsa', hash: 'sha512' },
  '2a8648ce3d0401': { kind: 'ec', hash: 'sha1' },
  '2a8648ce3d040302': { kind: 'ec', hash: 'sha256' },
  '2a8648ce3d040303': { kind: 'ec', hash: 'sha384' },
  '2a8648ce3d040304': { kind: 'ec', hash: 'sha512' },
  '2b6570': { kind: 'ed25519', hash: null },
}

/** Node's `X509Certificate`. It verifies one signature: a chain is the program's matter, as in Node. */
export class X509Certificate {
  readonly #der: Bytes
  /** The signed part with its header, its algorithm, and the signature. */
  readonly #signed: { bytes: Bytes; algorithm: string; signature: Bytes }
  /** Serial number, algorithm, issuer, validity, subject, key, and what follows. */
  readonly #fields: Element[]
  readonly #extensions: Extensions

  constructor(given: unknown) {
    if (typeof given !== 'string' && !ArrayBuffer.isView(given))
      throw invalidType('buffer', 'of type string or an instance of Buffer, TypedArray, or DataView', given)
    this.#der = toCertificate(toBytes(given))
    try {
      const [signed, algorithm, signature] = readSequence(this.#der) as [Element, Element, Element]
      this.#signed = {
        bytes: writeElement(signed.tag, signed.content),
        algorithm: hex(contentAt(readElements(algorithm.content), 0, tags.object)),
        signature: contentAt([signature], 0, tags.bitString).slice(1),
      }
      const fields = readElements(signed.content)
      this.#fields = fields[0]?.tag === versionTag ? fields.slice(1) : fields
      if (this.#fields.length < 6) throw new Error('Fields are missing')
      this.#extensions = extensionsOf(this.#fields.slice(6))
    } catch {
      throw malformed()
    }
  }

  get raw(): Buffer {
    return Buffer.from(this.#der)
  }

  get subject(): string | undefined {
    return readName(this.#fields[4]!)
  }

  get issuer(): string | undefined {
    return readName(this.#fields[2]!)
  }

  get subjectAltName(): string | undefined {
    return this.#extensions.alternativeNames
  }

  get infoAccess(): string | undefined {
    return this.#extensions.information
  }

  /** The uses beyond the usual ones, as object identifiers. */
  get keyUsage(): string[] | undefined {
    return this.#extensions.extendedUses
  }

  get ca(): boolean {
    return this.#extensions.isAuthority
  }

  get serialNumber(): string {
    return hex(this.#fields[0]!.content)
      .toUpperCase()
      .replace(/^00(?=.)/, '')
  }

  get validFrom(): string {
    return readTime(this.#validity(0)).text
  }

  get validTo(): string {
    return readTime(this.#validity(1)).text
  }

  get validFromDate(): Date {
    return readTime(this.#validity(0)).date
  }

  get validToDate(): Date {
    return readTime(this.#validity(1)).date
  }

  get fingerprint(): string {
    return this.#fingerprint('sha1')
  }

  get fingerprint256(): string {
    return this.#fingerprint('sha256')
  }

  get fingerprint512(): string {
    return this.#fingerprint('sha512')
  }

  get publicKey(): KeyObject {
    return new KeyObject(readDer('CERTIFICATE', this.#der))
  }

  /** Whether the private key that belongs to this key signed the certificate. */
  verify(key: unknown): boolean {
    if (!(key instanceof KeyObject)) throw invalidType('publicKey', 'an instance of KeyObject', key)
    if (key.type !== 'public') throw codedError('ERR_INVALID_ARG_VALUE', 'The key must be a public one', TypeError)
    const { bytes, algorithm, signature } = this.#signed
    const found = Object.hasOwn(algorithms, algorithm) ? algorithms[algorithm] : undefined
    if (found === undefined)
      throw codedError(
        'ERR_CRYPTO_UNSUPPORTED_OPERATION',
        'The algorithm of the certificate’s signature is not supported',
      )
    return key.asymmetricKeyType === found.kind && verify(found.hash, bytes, key, signature)
  }

  /** Whether the names say that the owner of the other certificate issued this one; the signature is another matter. */
  checkIssued(other: unknown): boolean {
    if (!(other instanceof X509Certificate)) throw invalidType('otherCert', 'an instance of X509Certificate', other)
    const [issuer, subject] = [this.#fields[2]!.content, other.#fields[4]!.content]
    return hex(issuer) === hex(subject) && other.#extensions.maySign
  }

  checkPrivateKey(key: unknown): boolean {
    if (!(key instanceof KeyObject)) throw invalidType('pkey', 'an instance of KeyObject', key)
    return key.type === 'private' && new KeyObject(toPublic(KeyObject.asymmetric(key))).equals(this.publicKey)
  }

  toString(): string {
    return writePem('CERTIFICATE', this.raw)
  }

  toJSON(): string {
    return this.toString()
  }

  #validity(at: number): Element {
    return readElements(this.#fields[3]!.content)[at]!
  }

  #fingerprint(hash: string): string {
    return hex(hashCalled(hash)(this.#der))
      .toUpperCase()
      .replaceAll(/(..)(?=.)/g, '$1:')
  }
}

function toCertificate(bytes: Uint8Array): Bytes {
  if (bytes[0] === tags.sequence) return Uint8Array.from(bytes)
  const pem = findPem(Buffer.from(bytes).toString('latin1'))
  if (pem === undefined || !pem.label.endsWith('CERTIFICATE')) throw malformed()
  return pem.bytes
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function malformed(): Error {
  return codedError('ERR_OSSL_ASN1_WRONG_TAG', 'The certificate is neither PEM nor DER')
}
