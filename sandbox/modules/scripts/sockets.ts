import { complete, type Provide } from '../provide.ts'
import { isIP } from '../sockets/is-ip.ts'
import { toConnectOptions } from '../sockets/options.ts'
import { checkServerIdentity } from '../sockets/refused-options.ts'
import { createSocket } from '../sockets/socket.ts'
import { createTls } from '../sockets/tls.ts'

export const provide: Provide = (platform, shapes) => {
  const Socket = createSocket(platform)
  const connect = (...values: unknown[]) => new Socket(toConnectOptions(values).options).connect(...values)
  const net = { Socket, Stream: Socket, connect, createConnection: connect, isIP, isIPv4: isFour, isIPv6: isSix }
  const constants = { rootCertificates: [], checkServerIdentity, getCiphers: () => [] }
  return {
    net: () => complete('net', net, shapes['net'], 'isolates receive no connections'),
    tls: () => complete('tls', { ...createTls(Socket), ...constants }, shapes['tls'], 'the platform encrypts'),
  }
}

function isFour(text: unknown): boolean {
  return isIP(text) === 4
}

function isSix(text: unknown): boolean {
  return isIP(text) === 6
}
