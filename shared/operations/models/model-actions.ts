import { isOfTexts } from '../../llm/media-catalogue.ts'
import { isModelAction, mediaActionNames } from '../../models/model-action.ts'
import { generateTextInput, type GenerateTextInput, type GenerateTextOutput } from '../../models/language-model.ts'
import { invalidInput, type ChatAction } from '../../messaging/action-input.ts'
import { splitActionType } from '../../messaging/call-action.ts'
import { isRecord } from '../../models/payload.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { compile } from '../../schema.ts'
import { listInstallations } from '../../store/installations.ts'
import { askRecorded } from './ask-recorded.ts'
import { mediaActions } from './media-actions.ts'
import { withOwnModels } from './own-models.ts'

/** Names of the published integrations of models, which older clients call in place of the gateway. */
const publishedNames = new Set([
  'anthropic',
  'cerebras',
  'fireworks-ai',
  'google-ai',
  'groq',
  'mistral-ai',
  'openai',
  'openrouter',
  'xai',
])

/**
 * Finds an action of an interface of models, which the gateway serves: that of a provider or of a published
 * integration, unless the bot has an installation of that alias.
 *
 * @param type with an alias, for instance `alias:generateContent`
 */
export async function findModelAction(context: BotContext, type: string): Promise<ChatAction | undefined> {
  if (!isModelAction(type)) return undefined
  const { alias = '', name } = splitActionType(type)
  const { db, models, caller } = context
  if (!publishedNames.has(alias) && !models.providers.includes(alias)) return undefined
  if ((await listInstallations(db, caller.botId)).some((installation) => installation.alias === alias)) return undefined
  const media = mediaActionNames.find((each) => each === name)
  if (media) return mediaActions[media](type, alias)
  return name === 'generateContent' ? generateContent(type, alias) : listLanguageModels(alias)
}

const isGenerateTextInput = compile(generateTextInput, 'body')

const generateContent =
  (type: string, alias: string): ChatAction =>
  async (platform, given) => {
    const context = await withOwnModels(platform)
    const input: unknown = toGenerateTextInput(context, alias, given)
    if (!isGenerateTextInput(input)) throw invalidInput(type, isGenerateTextInput)
    return toContent(await askRecorded(context, { type, input }, input))
  }

const listLanguageModels =
  (alias: string): ChatAction =>
  async (context) => ({
    models: (await withOwnModels(context)).models
      .list()
      .filter((model) => model.id.startsWith(`${alias}:`) && isOfTexts(model))
      .map(({ id, name, description, tags, input, output }) => ({
        id: id.slice(alias.length + 1),
        name,
        description,
        tags,
        input,
        output,
      })),
  })

/** The choices of tools, by their names in the interface. */
const toolModes: Record<string, NonNullable<GenerateTextInput['toolControl']>['mode']> = {
  auto: 'auto',
  any: 'required',
  none: 'none',
  specific: 'specific',
}

/** The input of the gateway for an input of the interface. It is not validated; fields of wrong types are kept or left out. */
function toGenerateTextInput({ models }: BotContext, alias: string, given: Record<string, unknown>): unknown {
  const { model, tools, toolChoice, topP: _topP, ...same } = given
  const id = isRecord(model) ? model['id'] : undefined
  const first = models.list().find((listed) => listed.id.startsWith(`${alias}:`))?.id
  const choice = isRecord(toolChoice) ? toolChoice : {}
  const mode = toolModes[String(choice['type'])]
  return {
    ...same,
    model: typeof id === 'string' ? `${alias}:${id}` : (first ?? 'auto'),
    ...(Array.isArray(tools) && { tools: tools.map(toTool) }),
    ...(mode && { toolControl: { mode, toolName: choice['functionName'] } }),
  }
}

function toTool(tool: unknown): unknown {
  const described = isRecord(tool) && isRecord(tool['function']) ? tool['function'] : {}
  const { name, description, argumentsSchema: parameters } = described
  return { name, ...(description !== undefined && { description }), ...(parameters !== undefined && { parameters }) }
}

/** The output of the interface. */
function toContent({ output, toolCalls, metadata }: GenerateTextOutput): Record<string, unknown> {
  const { provider, model, usage, cost, stopReason } = metadata
  return {
    id: '',
    provider,
    model: model.slice(model.indexOf(':') + 1),
    choices: [
      {
        role: 'assistant',
        type: toolCalls ? 'tool_calls' : 'text',
        content: output,
        index: 0,
        stopReason,
        ...(toolCalls && {
          toolCalls: toolCalls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: input },
          })),
        }),
      },
    ],
    usage,
    botpress: { cost },
  }
}
