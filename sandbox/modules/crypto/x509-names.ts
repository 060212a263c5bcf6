import { readElements, type Element } from '../../prelude/subtle/der.ts'

/** Names and times of certificates, in the form in which OpenSSL prints them. */

const attributes: Record<string, string> = {
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'title',
  '2.5.4.15': 'businessCategory',
  '2.5.4.17': 'postalCode',
  '2.5.4.42': 'GN',
  '2.5.4.97': 'organizationIdentifier',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
  '1.3.6.1.4.1.311.60.2.1.3': 'jurisdictionC',
}

/** A distinguished name, with a line for each part; undefined for an empty one. */
export function readName({ content }: Element): string | undefined {
  const lines = readElements(content).map((part) =>
    readElements(part.content)
      .map((pair) => {
        const [type, value] = readElements(pair.content) as [Element, Element]
        const oid = readOid(type.content)
        return `${attributes[oid] ?? oid}=${escapeValue(readText(value))}`
      })
      .join(' + '),
  )
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** As RFC 2253 has it. */
function escapeValue(text: string): string {
  return text.replaceAll(/[,+"\\<>;]|^[# ]| $/g, (character) => `\\${character}`)
}

const universal = { utf8: 0x0c, bmp: 0x1e }

function readText({ tag, content }: Element): string {
  if (tag === universal.utf8) return Buffer.from(content).toString('utf8')
  if (tag === universal.bmp) return Buffer.from(content).swap16().toString('utf16le')
  return Buffer.from(content).toString('latin1')
}

/** An object identifier in decimal. */
export function readOid(octets: Uint8Array): string {
  const numbers: bigint[] = []
  let number = 0n
  for (const octet of octets) {
    number = number * 128n + BigInt(octet & 127)
    if (octet < 128) {
      numbers.push(number)
      number = 0n
    }
  }
  const [first = 0n, ...rest] = numbers
  const root = first < 80n ? first / 40n : 2n
  return [root, first - root * 40n, ...rest].join('.')
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const shortYear = 0x17

/** A time, of which years with two digits are those from 1950 to 2049. */
export function readTime({ tag, content }: Element): { text: string; date: Date } {
  const digits = Buffer.from(content).toString('latin1')
  const century = Number(digits.slice(0, 2)) < 50 ? '20' : '19'
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(tag === shortYear ? century + digits : digits) ?? []
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  const text = `${months[Number(month) - 1]} ${String(Number(day)).padStart(2)} ${hour}:${minute}:${second} ${Number(year)} GMT`
  return { text, date }
}
