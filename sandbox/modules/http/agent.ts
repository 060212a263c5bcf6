import { EventEmitter } from 'events'

/** Holds the options of connections that the platform opens and keeps. */
export interface Agent extends EventEmitter {
  options: Record<string, unknown>
  defaultPort: number
  protocol: string
}

interface AgentConstructor {
  new (options?: object): Agent
  (this: unknown, options?: object): void
  prototype: Agent
}

/** Makes `http.Agent` as a function instead of a class: libraries derive from it with `util.inherits`. */
export function createAgentConstructor(protocol: 'http:' | 'https:'): AgentConstructor {
  function Agent(this: Agent, options: Record<string, unknown> = {}): Agent | void {
    if (!new.target && !(this instanceof Agent)) return new (Agent as unknown as AgentConstructor)(options)
    Reflect.apply(EventEmitter, this, [])
    this.options = { ...options }
    this.protocol = protocol
    this.defaultPort = protocol === 'http:' ? 80 : 443
    const { maxSockets = Infinity, maxFreeSockets = 256, maxTotalSockets = Infinity, keepAlive = false } = options
    const kept = { sockets: {}, freeSockets: {}, requests: {}, keepAliveMsecs: 1000 }
    Object.assign(this, { maxSockets, maxFreeSockets, maxTotalSockets, keepAlive, ...kept })
  }
  const methods = { destroy() {}, getName: () => 'localhost::', keepSocketAlive: () => true, reuseSocket() {} }
  Object.setPrototypeOf(Agent, EventEmitter)
  Object.setPrototypeOf(Agent.prototype, EventEmitter.prototype)
  Object.assign(Agent.prototype, methods)
  return Agent as unknown as AgentConstructor
}
