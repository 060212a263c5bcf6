import { codedError } from '../../prelude/node-errors.ts'
import { authorityOf, toConnectOptions, toTlsOptions, type ConnectOptions } from './options.ts'
import type { SocketClass } from './socket.ts'

const overStream = () => codedError('ERR_METHOD_NOT_IMPLEMENTED', 'The platform secures only connections of net')

/** Makes what `tls` has of connections. The platform encrypts: an isolate sees neither keys nor certificates. */
export function createTls(Socket: SocketClass) {
  class TLSSocket extends Socket {
    readonly encrypted = true
    readonly alpnProtocol = false
    readonly authorizationError = null
    authorized = false
    #options: ConnectOptions

    /**
     * @param options or a stream that is no socket. TLS over one is not available, and a write fails. `http2-wrapper`, on which `got`
     * builds, makes such a socket while it loads and reads the class of its handle.
     */
    constructor(options: ConnectOptions | InstanceType<SocketClass> = {}) {
      if (options instanceof Socket)
        throw codedError('ERR_METHOD_NOT_IMPLEMENTED', 'Continue a socket with TLS by tls.connect({ socket })')
      const isOverStream = 'pipe' in options
      super(isOverStream ? {} : options)
      this.#options = isOverStream ? {} : options
      if (isOverStream) {
        Object.assign(this, {
          _handle: { _parentWrap: {} },
          _write: (_chunk: unknown, _encoding: unknown, callback: (error: Error) => void) => callback(overStream()),
        })
      }
      // A connection whose certificate is not accepted is never open.
      this.on('connect', () => (this.authorized = this.#options.rejectUnauthorized !== false))
    }

    /** Also a closed socket that is connected again has TLS. */
    override connect(...values: unknown[]): this {
      const { options, listener } = toConnectOptions(values)
      this.#options = { ...this.#options, ...options }
      this.authorized = false
      if (listener) this.once('secureConnect', listener)
      if (options.timeout) this.setTimeout(options.timeout)
      const tls = toTlsOptions(this.#options)
      this.open({ protocol: 'tls', authority: authorityOf(this.#options), tls })
      return this
    }

    override announce(): void {
      this.emit('connect')
      this.emit('ready')
      this.emit('secureConnect')
    }

    getPeerCertificate(): object {
      return {}
    }

    getCipher(): object {
      return {}
    }

    getProtocol(): null {
      return null
    }

    isSessionReused(): boolean {
      return false
    }

    getSession(): undefined {}

    setSession(): void {}

    setServername(): void {}

    disableRenegotiation(): void {}
  }

  function connect(...values: unknown[]): TLSSocket {
    const { options, listener } = toConnectOptions(values)
    const socket = new TLSSocket(options)
    if (options.socket === undefined) return socket.connect(...values)
    const tls = toTlsOptions(options)
    if (listener) socket.once('secureConnect', listener)
    if (options.timeout) socket.setTimeout(options.timeout)
    if (!(options.socket instanceof Socket)) throw overStream()
    const servername = options.servername || options.host
    secure(options.socket, socket, { ...tls, ...(servername && { servername }) })
    return socket
  }

  /** Continues a connection with TLS, as soon as it is open. */
  function secure(plain: InstanceType<SocketClass>, socket: TLSSocket, tls: ReturnType<typeof toTlsOptions>): void {
    const begin = () => {
      const detached = plain.detach()
      if (!detached) return close()
      plain.off('error', fail).off('close', close)
      socket.once('close', () => plain.destroy())
      return socket.open({ protocol: 'tls', authority: detached.authority, tls, secures: detached.connected })
    }
    const fail = (error: Error) => socket.destroy(error)
    const close = () => socket.destroy(codedError('ECONNRESET', 'The connection to be secured is closed'))
    plain.once('error', fail).once('close', close)
    if (plain.pending && !plain.destroyed) plain.once('connect', begin)
    else queueMicrotask(begin)
  }

  return { TLSSocket, connect }
}
