import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'

/** The resources of the Admin API, from the schemas of its operations. */
export type Accepted = AnswerOf<'acceptInvitation'>
export type Account = AnswerOf<'getAccount'>['account']
export type Bot = AnswerOf<'getBot'>['bot']
export type BotHealth = AnswerOf<'getBotHealth'>['health']
export type CannedReply = AnswerOf<'listCannedReplies'>['cannedReplies'][number]
export type ErrorGroup = AnswerOf<'listBotErrors'>['errors'][number]
export type EventDetail = AnswerOf<'getBotEvent'>['event']
export type EventSummary = AnswerOf<'listBotEvents'>['events'][number]
export type FileOfBot = AnswerOf<'getFile'>['file']
export type FoundPassage = AnswerOf<'searchFiles'>['passages'][number]
export type Handover = NonNullable<AnswerOf<'getBotConversation'>['handover']>
export type HandoverNote = AnswerOf<'listHandoverNotes'>['notes'][number]
export type Installation = AnswerOf<'listBotInstallations'>['installations'][number]
export type Invitation = AnswerOf<'getInvitation'>
export type Invited = AnswerOf<'createWorkspaceMember'>
export type KnowledgeBase = AnswerOf<'listKnowledgeBases'>['knowledgeBases'][number]
export type ListedHealth = AnswerOf<'listBotHealth'>['bots'][number]
export type LogLine = AnswerOf<'followBotLogs'>['logs'][number]
export type Member = AnswerOf<'listWorkspaceMembers'>['members'][number]
export type QueueState = AnswerOf<'getQueue'>['queue']
export type Run = EventDetail['runs'][number]
export type Step = Run['steps'][number]
export type Table = AnswerOf<'getTable'>['table']
export type TableRow = AnswerOf<'getTableRow'>['row']
export type TableJob = AnswerOf<'getTableJobs'>['jobs'][number]
export type Token = AnswerOf<'listPersonalAccessTokens'>['pats'][number]
export type Version = AnswerOf<'listBotVersions'>['versions'][number]
export type VersionWithCode = AnswerOf<'getBotVersion'>['version']
export type Window = BotHealth['window']
export type Workspace = AnswerOf<'listWorkspaces'>['workspaces'][number]
