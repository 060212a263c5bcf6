import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { toWorkflow, workflow } from '../../models/workflow.ts'
import { operation } from '../../rpc/operation.ts'
import { findWorkflow } from '../../store/workflows.ts'
import { assertBotItself } from './new-workflow.ts'

export const getWorkflow = operation({
  name: 'getWorkflow',
  description: 'Returns one of the bot’s workflows.',
  method: 'GET',
  path: '/v1/chat/workflows/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ workflow }),

  async handle({ db, caller }, { id }) {
    assertBotItself(caller)
    const row = await findWorkflow(db, caller, id)
    if (!row) throw notFound(`Workflow '${id}'`)
    return { workflow: toWorkflow(row) }
  },
})
