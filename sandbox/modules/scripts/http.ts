import { createAgentConstructor } from '../http/agent.ts'
import { ClientRequest } from '../http/client-request.ts'
import { validateHeaderName, validateHeaderValue } from '../http/headers.ts'
import { IncomingMessage } from '../http/incoming-message.ts'
import { complete, type Provide } from '../provide.ts'
import type { Shape } from '../shapes.ts'

export const provide: Provide = (_platform, shapes) => ({
  http: () => createModule('http', shapes['http']),
  https: () => createModule('https', shapes['https']),
})

function createModule(name: 'http' | 'https', shape: Shape | undefined): object {
  const protocol = `${name}:` as const
  const Agent = createAgentConstructor(protocol)
  const globalAgent = new Agent()
  const request = (...values: unknown[]) => new ClientRequest(protocol, values, globalAgent)
  const get = (...values: unknown[]) => {
    const made = request(...values)
    made.end()
    return made
  }
  const common = { Agent, globalAgent, request, get }
  if (name === 'https') return complete(name, common, shape, 'isolates receive no connections')
  const classes = { IncomingMessage, ClientRequest: createConstructor() }
  const values = { validateHeaderName, validateHeaderValue, maxHeaderSize: 16_384 }
  return complete(name, { ...common, ...classes, ...values }, shape, 'isolates receive no connections')
}

/** Node's takes what `http.request` takes. */
function createConstructor(): unknown {
  return class extends ClientRequest {
    constructor(...values: unknown[]) {
      super('http:', values)
    }
  }
}
