import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The present answer for a name: IPv4 and IPv6 addresses, and the names that it is an alias of. `times` is the number of
 * earlier questions for it.
 */
type Meaning = (times: number) => string[]

export interface NameServer extends AsyncDisposable {
  /** Where it listens, as `address:port`. */
  address: string
  /** The questions that have come, as `A name`. */
  questions: string[]
}

const types = { A: 1, CNAME: 5, AAAA: 28 } as const
type Type = keyof typeof types

/** Starts a name server on 127.0.0.1 that knows these names, all of them with a time to live of zero, and no others. */
export async function startNameServer(zone: Record<string, Meaning>): Promise<NameServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query)
    const question = `${type ?? 'other'} ${name}`
    const times = questions.filter((earlier) => earlier === question).length
    questions.push(question)
    const records = type === undefined ? [] : recordsOf(zone, name, type, times)
    // A name that is unknown is an answer without records: nobody here depends on the difference.
    const header = Buffer.from([query[0]!, query[1]!, 0x85, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0])
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: Type | undefined; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const code = query.readUInt16BE(at + 1)
  const type = (Object.keys(types) as Type[]).find((candidate) => types[candidate] === code)
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 }
}

function recordsOf(zone: Record<string, Meaning>, name: string, type: Type, times: number): Buffer[] {
  return (zone[name]?.(times) ?? []).flatMap((meaning) => {
    if (isIPv4(meaning)) return type === 'A' ? [record(name, 'A', bytesOf(meaning))] : []
    if (isIPv6(meaning)) return type === 'AAAA' ? [record(name, 'AAAA', bytesOf(meaning))] : []
    return [record(name, 'CNAME', encode(meaning)), ...recordsOf(zone, meaning, type, times)]
  })
}

function record(name: string, type: Type, data: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(types[type], 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([encode(name), head, data])
}

function bytesOf(address: string): Buffer {
  return Buffer.from(ipaddr.parse(address).toByteArray())
}

function encode(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}
