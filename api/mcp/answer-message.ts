import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { Request as ExpressRequest } from 'express'
import { UntrustedSchema } from '#shared/code/untrusted-schema.ts'
import { dispatch } from '#shared/dispatch.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { BotContext } from '#shared/rpc/caller.ts'
import { findTools, pageOfTools, type Tool } from './tools.ts'

/** The answer to a message. */
interface Answer {
  status: number
  headers: Record<string, string>
  text: string
}

const information = { name: 'isobot', version: '1' }

/**
 * The server validates the input of tools itself, within bounds (`UntrustedSchema`). The library's own validator is only for
 * questions to a client, of which there are none, and costs milliseconds for each server.
 */
const noValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'There is no validator' }),
}

/** Answers one message of a client, with a server of its own. */
export async function answerMessage(context: BotContext, request: ExpressRequest, body: unknown): Promise<Answer> {
  const { server } = new McpServer(information, { capabilities: { tools: {} }, jsonSchemaValidator: noValidator })
  server.setRequestHandler(ListToolsRequestSchema, async ({ params }) =>
    pageOfTools(await findTools(context), params?.cursor),
  )
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: input = {} } }) => {
    const tool = (await findTools(context)).find((each) => each.name === name)
    if (!tool) {
      context.metrics.mcpToolCalls.inc({ outcome: 'refused' })
      throw new McpError(ErrorCode.InvalidParams, `The bot has no action '${name.slice(0, 200)}'`)
    }
    return callTool(context, tool, input)
  })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const url = new URL(request.originalUrl, context.config.http.baseUrl)
    const response = await transport.handleRequest(new Request(url, { method: 'POST', headers: headersOf(request) }), {
      parsedBody: body ?? null,
    })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    }
  } finally {
    await server.close()
  }
}

/** The headers that the protocol reads; the others, with the token, do not reach the library. */
function headersOf(request: ExpressRequest): Record<string, string> {
  const names = ['accept', 'content-type', 'mcp-protocol-version']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = request.get(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Calls an action as any program does. Its failures are results, which a model reads and may act upon. */
async function callTool(context: BotContext, tool: Tool, input: Record<string, unknown>): Promise<CallToolResult> {
  const { name, inputSchema } = tool
  const { caller, metrics, callerGone } = context
  const checked = new UntrustedSchema(inputSchema, `the input of '${name}'`).validate(input)
  if ('problem' in checked) {
    metrics.mcpToolCalls.inc({ outcome: 'refused' })
    return failed(`The input does not fit the action: ${checked.problem}`)
  }
  const { status, body } = await dispatch(context, {
    method: 'POST',
    path: '/v1/chat/actions',
    identify: () => caller,
    body: async () => ({ type: name, input }),
    ...(callerGone && { callerGone }),
  })
  metrics.mcpToolCalls.inc({ outcome: status < 400 ? 'completed' : 'failed' })
  if (status >= 400) return failed((body as { message: string }).message)
  const { output } = body as { output: unknown }
  // Clients refuse structured content that is no object; code may return any JSON value.
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }],
    ...(isRecord(output) && { structuredContent: output }),
  }
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
