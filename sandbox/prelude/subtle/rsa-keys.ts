import { IFCPrimes } from 'micro-rsa-dsa-dh/rsa.js'
import { invert } from 'micro-rsa-dsa-dh/utils.js'
import { assertKind, decodeMember, encodeBase64Url } from './base64url.ts'
import {
  contentAt,
  readPrivateKey,
  readPublicKey,
  readSequence,
  tags,
  writeElement,
  writeInteger,
  writePrivateKey,
  writePublicKey,
} from './der.ts'
import { hashOf } from './hashes.ts'
import {
  CryptoKey,
  dataError,
  invalidAccess,
  notSupported,
  operationError,
  toBytes,
  type Algorithm,
  type Family,
  type Imported,
  type JsonWebKey,
} from './key.ts'

/** The members of private keys, in the order of key files. */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const

type Member = 'n' | 'e' | (typeof secretMembers)[number]

/** The numbers of a key. A private one may come without its primes, as a JSON Web Key. */
type Material = Partial<Record<Member, bigint>> & { n: bigint; e: bigint }

/** Identifier of the algorithm in key files. */
const identifier = Uint8Array.of(0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, tags.nothing, 0x00)

/** Larger ones take seconds, and OpenSSL refuses them as well: also a long exponent of a public key that is not small. */
const largestModulus = 16_384
const smallModulus = 3072
const longestExponent = 64

interface Naming {
  /** The names of the algorithm with each hash, in JSON Web Keys. */
  alg: Record<string, string>
  usages: Family['usages']
}

/** The operations that keys of RSA have in common. */
export function rsaKeys(name: string, { alg, usages }: Naming) {
  const toKey = (material: Material, algorithm: Algorithm): Imported => {
    assertBounded(material)
    const hash = { name: hashOf(algorithm['hash']).name }
    const publicExponent = toOctets(material.e)
    return {
      type: material.d === undefined ? 'public' : 'private',
      algorithm: { name, modulusLength: bitsOf(material.n), publicExponent, hash },
      material,
    }
  }
  return {
    usages,
    importKey(format, data, algorithm) {
      if (format === 'raw') throw notSupported('Keys of RSA must have the format pkcs8, spki or jwk')
      if (format !== 'jwk') return toKey(readNumbers(format, data as Uint8Array<ArrayBuffer>), algorithm)
      const jwk = data as JsonWebKey
      assertKind(jwk, 'RSA')
      const wanted = alg[hashOf(algorithm['hash']).name]
      if (jwk.alg !== undefined && jwk.alg !== wanted) throw dataError(`The JSON Web Key is not for ${wanted}`)
      return toKey(readMembers(jwk), algorithm)
    },
    exportKey(format, key) {
      const material = materialOf(key)
      if (format === 'jwk') {
        const members = key.type === 'private' ? (['n', 'e', ...secretMembers] as const) : (['n', 'e'] as const)
        const numbers = members.flatMap((member) => {
          const number = withPrimes(material)[member]
          return number === undefined ? [] : [[member, encodeBase64Url(toOctets(number))]]
        })
        return { kty: 'RSA', alg: alg[hashOf(key.algorithm['hash']).name], ...Object.fromEntries(numbers) }
      }
      if ((format === 'pkcs8') !== (key.type === 'private') || format === 'raw')
        throw invalidAccess(`A ${key.type} key of RSA cannot have the format ${format}`)
      return format === 'spki' ? writePublicKey(writeNumbers(material), identifier) : writePrivateNumbers(material)
    },
    generateKey(algorithm) {
      // New numbers take a second or two, so the hash is checked before.
      hashOf(algorithm['hash'])
      const material = makeNumbers(Number(algorithm['modulusLength']), algorithm['publicExponent'])
      const { n, e } = material
      return [toKey({ n, e }, algorithm), toKey(material, algorithm)]
    },
  } satisfies Family
}

/** The numbers of a public key, for the library. */
export function publicOf(key: CryptoKey): { n: bigint; e: bigint } {
  return materialOf(key)
}

/**
 * The numbers of a private key, for the library. Its exponentiation takes a time that depends on the exponent, so the
 * exponent is another one each time: a random multiple of the order is added, which leaves the result the same.
 */
export function secretOf(key: CryptoKey): { n: bigint; d: bigint } {
  const { n, e, d, p, q } = materialOf(key)
  const order = p !== undefined && q !== undefined && p * q === n ? (p - 1n) * (q - 1n) : d! * e - 1n
  const [random] = crypto.getRandomValues(new BigUint64Array(1))
  return { n, d: d! + random! * order }
}

function readNumbers(format: 'spki' | 'pkcs8', bytes: Uint8Array<ArrayBuffer>): Material {
  const isPublic = format === 'spki'
  const numbers = readSequence(isPublic ? readPublicKey(bytes, identifier) : readPrivateKey(bytes, identifier))
  const numberAt = (at: number) => toNumber(contentAt(numbers, at, tags.integer))
  if (isPublic) return { n: numberAt(0), e: numberAt(1) }
  const secret = secretMembers.map((member, at) => [member, numberAt(3 + at)])
  return { n: numberAt(1), e: numberAt(2), ...Object.fromEntries(secret) }
}

function readMembers(jwk: JsonWebKey): Material {
  const members = secretMembers.filter((member) => jwk[member] !== undefined)
  const secret = members.map((member) => [member, toNumber(decodeMember(jwk, member))])
  return { n: toNumber(decodeMember(jwk, 'n')), e: toNumber(decodeMember(jwk, 'e')), ...Object.fromEntries(secret) }
}

function writeNumbers({ n, e }: Material): Uint8Array {
  return writeElement(tags.sequence, writeInteger(toOctets(n)), writeInteger(toOctets(e)))
}

function writePrivateNumbers(material: Material): Uint8Array {
  const whole = withPrimes(material)
  const numbers = (['n', 'e', ...secretMembers] as const).map((member) => whole[member])
  if (numbers.includes(undefined)) throw notSupported('A private key without its primes must have the format jwk')
  const integers = numbers.map((number) => writeInteger(toOctets(number!)))
  return writePrivateKey(writeElement(tags.sequence, writeInteger(Uint8Array.of(0)), ...integers), identifier)
}

/** Adds the numbers that follow from the primes. */
function withPrimes(material: Material): Material {
  const { d, p, q } = material
  if (d === undefined || p === undefined || q === undefined || material.qi !== undefined) return material
  return { ...material, dp: d % (p - 1n), dq: d % (q - 1n), qi: invert(q, p) }
}

function makeNumbers(bits: number, exponent: unknown): Material {
  const e = toNumber(toBytes(exponent, 'algorithm.publicExponent'))
  if (
    !(bits >= 2048 && bits <= largestModulus && bits % 8 === 0) ||
    e < 65_537n ||
    bitsOf(e) > longestExponent ||
    e % 2n === 0n
  )
    throw operationError('A new key of RSA must have 2048 bits or more, and an odd exponent from 65537 on')
  const { p, q } = IFCPrimes(bits, e)
  return withPrimes({ n: p * q, e, d: invert(e, (p - 1n) * (q - 1n)), p, q })
}

/** @throws DataError for a key whose use would take very long, or that cannot be one of RSA */
function assertBounded({ n, e, d, p = 3n, q = 3n }: Material): void {
  const [bits, exponentBits] = [bitsOf(n), bitsOf(e)]
  if (bits > largestModulus) throw dataError(`A key of RSA may have ${largestModulus} bits`)
  if (exponentBits > longestExponent && (bits > smallModulus || e >= n))
    throw dataError(`The public exponent of a key of RSA may have ${longestExponent} bits`)
  if (n % 2n === 0n || e % 2n === 0n || e < 3n || p < 3n || q < 3n || (d !== undefined && (d < 1n || d >= n)))
    throw dataError('The numbers are no key of RSA')
}

function bitsOf(number: bigint): number {
  const digits = number.toString(16)
  return digits.length * 4 - (Math.clz32(Number.parseInt(digits[0]!, 16)) - 28)
}

export function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x0${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`)
}

/** The digits of a number in base 256, without leading zeros. */
function toOctets(number: bigint): Uint8Array<ArrayBuffer> {
  const digits = number.toString(16)
  return Uint8Array.from(digits.padStart(digits.length + (digits.length % 2), '0').match(/../g)!, (pair) =>
    Number.parseInt(pair, 16),
  )
}

function materialOf(key: CryptoKey): Material {
  return CryptoKey.materialOf(key) as Material
}
