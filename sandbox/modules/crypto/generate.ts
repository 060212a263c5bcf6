import { codedError, invalidType } from '../../prelude/node-errors.ts'
import { curveCalled, makePair, type AsymmetricKind } from './asymmetric-key.ts'
import { laterBy } from './derivations.ts'
import { KeyObject, type ExportOptions } from './key-object.ts'

interface PairOptions {
  modulusLength?: number
  publicExponent?: number
  namedCurve?: string
  publicKeyEncoding?: ExportOptions
  privateKeyEncoding?: ExportOptions
}

type Exported = ReturnType<KeyObject['export']> | KeyObject

interface Pair {
  publicKey: Exported
  privateKey: Exported
}

const kinds: readonly string[] = ['rsa', 'ec', 'ed25519', 'x25519']

function generateKeyPairSync(kind: unknown, options: PairOptions = {}): Pair {
  if (typeof kind !== 'string') throw invalidType('type', 'of type string', kind)
  if (!kinds.includes(kind)) {
    const message = `The argument 'type' must be one of: ${kinds.join(', ')}. Received '${kind}'`
    throw codedError('ERR_INVALID_ARG_VALUE', message, TypeError)
  }
  const { publicKeyEncoding, privateKeyEncoding } = options
  const keys = makePair(kind as AsymmetricKind, parametersOf(kind, options)).map((key) => new KeyObject(key))
  return { publicKey: encode(keys[0]!, publicKeyEncoding), privateKey: encode(keys[1]!, privateKeyEncoding) }
}

function parametersOf(kind: string, { modulusLength, publicExponent = 65_537, namedCurve }: PairOptions): object {
  if (kind === 'ec') return { namedCurve: curveCalled(namedCurve).name }
  if (kind !== 'rsa') return {}
  if (typeof modulusLength !== 'number') throw invalidType('options.modulusLength', 'of type number', modulusLength)
  const digits = Buffer.alloc(4)
  digits.writeUInt32BE(publicExponent)
  return { modulusLength, publicExponent: Uint8Array.from(digits) }
}

function encode(key: KeyObject, encoding: ExportOptions | undefined): Exported {
  return encoding === undefined ? key : key.export(encoding)
}

type GivePair = (error: Error | null, publicKey?: Exported, privateKey?: Exported) => void

const pairLater = laterBy(generateKeyPairSync)

function generateKeyPair(kind: unknown, options: PairOptions | GivePair, given?: GivePair): void {
  const [values, give] = typeof options === 'function' ? [{}, options] : [options, given!]
  pairLater(kind, values, (error, pair) => give(error, pair?.publicKey, pair?.privateKey))
}

/** `util.promisify` gives both keys as one object. */
Object.defineProperty(generateKeyPair, Symbol.for('nodejs.util.promisify.custom'), {
  value: async (kind: unknown, options?: PairOptions) => generateKeyPairSync(kind, options),
})

function generateKeySync(kind: 'hmac' | 'aes', { length }: { length: number }): KeyObject {
  if (kind !== 'hmac' && ![128, 192, 256].includes(length)) {
    const message = "The property 'options.length' must be one of: 128, 192, 256."
    throw codedError('ERR_INVALID_ARG_VALUE', `${message} Received ${String(length)}`, TypeError)
  }
  return new KeyObject(crypto.getRandomValues(new Uint8Array(Math.floor(length / 8))))
}

export const generators = {
  generateKeyPairSync,
  generateKeyPair,
  generateKeySync,
  generateKey: laterBy(generateKeySync),
}
