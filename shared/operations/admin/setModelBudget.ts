import { closedObject } from '../../schema.ts'
import { modelBudget, modelBudgetState } from '../../models/model-budget.ts'
import { operation } from '../../rpc/operation.ts'
import { findBudget, setBudget } from '../../store/model-budgets.ts'
import { budgetOwner } from './budget-owner.ts'

export const setModelBudget = operation({
  name: 'setModelBudget',
  description:
    'Sets upper bounds of the usage of language models, of a bot or, without `botId`, of the workspace. They replace those ' +
    'from before; an empty budget removes them.',
  method: 'PUT',
  path: '/v1/admin/models/budget',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  auditedFields: ['botId', 'budget'],
  input: closedObject({ budget: modelBudget }, { botId: { type: 'string' } }),
  output: modelBudgetState,

  async handle(context, { botId, budget }) {
    const owner = await budgetOwner(context, botId)
    await setBudget(context.db, owner, budget)
    return findBudget(context.db, owner)
  },
})
