import { contentAt, readElements, readSequence, tags, type Element } from '../../prelude/subtle/der.ts'
import { readName, readOid } from './x509-names.ts'

/** The extensions of certificates that Node shows. */
export interface Extensions {
  alternativeNames?: string
  information?: string
  extendedUses?: string[]
  isAuthority: boolean
  /** Whether its key may sign certificates. */
  maySign: boolean
}

const extensionsTag = 0xa3
const booleanTag = 0x01
const identifiers = {
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  constraints: '2.5.29.19',
  extendedUses: '2.5.29.37',
  information: '1.3.6.1.5.5.7.1.1',
}

/** @param elements of a certificate behind its key */
export function extensionsOf(elements: readonly Element[]): Extensions {
  const list = elements.find(({ tag }) => tag === extensionsTag)
  const values = new Map(
    (list ? readSequence(list.content) : []).map(({ content }) => {
      const parts = readElements(content)
      return [readOid(contentAt(parts, 0, tags.object)), contentAt(parts, parts.length - 1, tags.octetString)]
    }),
  )
  const [names, information] = [values.get(identifiers.alternativeNames), values.get(identifiers.information)]
  const [uses, constraints] = [values.get(identifiers.extendedUses), values.get(identifiers.constraints)]
  const usage = values.get(identifiers.keyUsage)
  const [authority] = constraints ? readSequence(constraints) : []
  return {
    ...(names && { alternativeNames: readSequence(names).map(readGeneralName).join(', ') }),
    ...(information && { information: readSequence(information).map(readAccess).join('\n') }),
    ...(uses && { extendedUses: readSequence(uses).map(({ content }) => readOid(content)) }),
    isAuthority: authority?.tag === booleanTag && authority.content[0] !== 0,
    maySign: usage === undefined || (contentAt(readElements(usage), 0, tags.bitString)[1]! & certificateSigning) !== 0,
  }
}

const certificateSigning = 0x04

const methods: Record<string, string> = { '1.3.6.1.5.5.7.48.1': 'OCSP', '1.3.6.1.5.5.7.48.2': 'CA Issuers' }

function readAccess({ content }: Element): string {
  const [method, location] = readElements(content) as [Element, Element]
  const oid = readOid(method.content)
  return `${methods[oid] ?? oid} - ${readGeneralName(location)}`
}

/** Kinds of general names whose content is a text, by their tags. */
const texts: Record<number, string> = { 0x81: 'email', 0x82: 'DNS', 0x86: 'URI' }
const directoryTag = 0xa4
const addressTag = 0x87
const registeredTag = 0x88

function readGeneralName({ tag, content }: Element): string {
  const kind = texts[tag]
  if (kind !== undefined) return `${kind}:${quoteUnusual(Buffer.from(content).toString('latin1'))}`
  if (tag === addressTag) return `IP Address:${readAddress(content)}`
  if (tag === registeredTag) return `Registered ID:${readOid(content)}`
  if (tag === directoryTag)
    return `DirName:${quoteUnusual(readName(readElements(content)[0]!)?.replaceAll('\n', ',') ?? '')}`
  return 'othername:<unsupported>'
}

/** Quotes a text that could be taken for several names. */
function quoteUnusual(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) && !/[",\\']/.test(text) ? text : JSON.stringify(text)
}

function readAddress(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join('.')
  if (octets.length !== 16) return '<invalid>'
  const groups = Array.from({ length: 8 }, (_, at) => octets[2 * at]! * 256 + octets[2 * at + 1]!)
  return groups.map((group) => group.toString(16).toUpperCase()).join(':')
}
