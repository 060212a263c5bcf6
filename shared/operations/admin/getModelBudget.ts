import { closedObject } from '../../schema.ts'
import { modelBudgetState } from '../../models/model-budget.ts'
import { operation } from '../../rpc/operation.ts'
import { findBudget } from '../../store/model-budgets.ts'
import { budgetOwner } from './budget-owner.ts'

export const getModelBudget = operation({
  name: 'getModelBudget',
  description:
    'Returns the budget of language models of a bot or, without `botId`, of the workspace, with what is spent of it.',
  method: 'GET',
  path: '/v1/admin/models/budget',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({}, { botId: { type: 'string' } }),
  output: modelBudgetState,

  async handle(context, { botId }) {
    return findBudget(context.db, await budgetOwner(context, botId))
  },
})
