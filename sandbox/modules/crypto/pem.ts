type Bytes = Uint8Array<ArrayBuffer>

/** A block of a text in the form of PEM. */
export interface Pem {
  label: string
  /** The fields before its data, with names in lower case. */
  fields: Map<string, string>
  bytes: Bytes
}

const block = /-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*(?:-[^-]+)*)-----END \1-----/g
const field = /^([\w-]+):\s*(.*)$/

/** Finds the first key or certificate in a text: OpenSSL writes the curve of an elliptic key before it. */
export function findPem(text: string): Pem | undefined {
  for (const [, label, content] of text.matchAll(block)) {
    if (label === 'EC PARAMETERS') continue
    const lines = content!.split(/\r?\n/).map((line) => line.trim())
    const fields = new Map(lines.flatMap((line) => [readField(line)].filter((one) => one !== undefined)))
    const base64 = lines.filter((line) => !field.test(line)).join('')
    return { label: label!, fields, bytes: Uint8Array.from(Buffer.from(base64, 'base64')) }
  }
  return undefined
}

function readField(line: string): [string, string] | undefined {
  const [, name, value] = field.exec(line) ?? []
  return name === undefined ? undefined : [name.toLowerCase(), value!]
}

export function writePem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
