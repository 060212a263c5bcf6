import { Socket } from 'node:net'

/**
 * Loaded into the processes of a platform before their own modules: connections to some hosts go to ports of this machine,
 * as a router before them would have it. Names and certificates are checked as ever.
 */
const ports = JSON.parse(process.env['REROUTED_HOSTS'] ?? '{}') as Record<string, number>

type Connect = (this: Socket, ...args: unknown[]) => Socket
const connect = Socket.prototype.connect as Connect

const rerouted: Connect = function (first, ...others) {
  // `net.connect` hands over the list of its arguments.
  const options = (Array.isArray(first) ? first[0] : first) as { host?: string; lookup?: unknown; port?: number }
  const port = ports[options?.host ?? '']
  if (port !== undefined) Object.assign(options, { host: '127.0.0.1', port, lookup: undefined })
  return connect.call(this, first, ...others)
}
Socket.prototype.connect = rerouted
