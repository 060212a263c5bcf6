/** The courses of workflows, of which the texts of a conversation begin one after the other. */
export const courses = ['works', 'sleeps', 'asks', 'parent', 'expires'] as const
export type Course = (typeof courses)[number]

/** The course of the workflow of a text. Runs here and, as text, in the bot. */
export function courseOf(number: number): Course {
  const all: Course[] = ['works', 'sleeps', 'asks', 'parent', 'expires']
  return all[number % all.length]!
}

/** Whether the workflow of a text has the conversation, and with it its mailbox. Runs in both places too. */
export function isOfConversation(number: number): boolean {
  return number % 2 === 0
}

/** The steps of a workflow, in order; each says so in the conversation. A child has one. */
export const stepsOf: Record<Course, string[]> = {
  works: ['begun', 'second', 'done'],
  sleeps: ['begun', 'done'],
  asks: ['begun', 'second', 'done'],
  parent: ['begun', 'done'],
  expires: ['begun', 'expired'],
}

/** Children of a parent. */
export const children = 2

/**
 * Begins a workflow for each message, does a step for each of its updates, and waits in between: for the next update, for a
 * scheduled event, for two events of a program, for its children, or for the end of its time. It pauses around each write, so
 * that most faults occur in the middle of a run.
 *
 * Each step continues the list in the workflow's output, as the event has it.
 */
export const workflowBotCode = `
  ${String(courseOf)}
  ${String(isOfConversation)}
  const pause = (most) => new Promise((resolve) => setTimeout(resolve, Math.random() * most))

  async function begin({ event, client }) {
    const number = Number(event.preview.slice('text '.length))
    const { conversationId } = event
    const course = courseOf(number)
    await pause(50)
    await client.createWorkflow({
      name: course,
      status: 'pending',
      tags: { course },
      input: { number, conversationId },
      ...(isOfConversation(number) && { conversationId }),
      ...(course === 'expires' && { timeoutAt: new Date(Date.now() + 4000).toISOString() }),
    })
    await pause(50)
  }

  // A repeated run may find more ended children than the first one, and must do the same.
  async function haveChildrenEnded(client, workflow, eventId) {
    const { workflows } = await client.listWorkflows({ parentWorkflowId: workflow.id })
    const ended = workflows.filter(({ status }) => status === 'completed').length
    const look = { type: 'workflow', id: workflow.id, name: 'look-' + eventId, payload: { ended } }
    return (await client.getOrSetState(look)).state.payload.ended === ${children}
  }

  async function update({ event, client }) {
    const { type, workflow } = event.payload
    const { id, name, input } = workflow
    if (type.startsWith('child_workflow_')) return pause(50)
    const step = async (called, status) => {
      const text = input.number + ' ' + name + ' ' + (input.child ?? '') + ' ' + called
      await client.createMessage({ conversationId: input.conversationId, type: 'text', payload: { text } })
      await pause(50)
      if (called === 'expired') return
      const output = { steps: [...(workflow.output.steps ?? []), called] }
      const eventId = status === 'in_progress' ? event.id : undefined
      // Its time may be over before its first step.
      const change = client.updateWorkflow({ id, status, output, eventId })
      await (name === 'expires' ? change.catch(() => {}) : change)
    }
    await pause(50)
    if (type === 'workflow_timedout') await step('expired')
    else if (name === 'child') await step('done', 'completed')
    else if (type === 'workflow_started') {
      for (let child = 1; name === 'parent' && child <= ${children}; child += 1) {
        await client.createWorkflow({
          name: 'child',
          status: 'pending',
          parentWorkflowId: id,
          input: { ...input, child },
          ...(child === 1 && { conversationId: input.conversationId }),
        })
      }
      if (name === 'sleeps') await client.createEvent({ type: 'wake', payload: {}, workflowId: id, schedule: { delay: 500 } })
      await step('begun', name === 'works' ? 'in_progress' : 'listening')
    } else if (name === 'parent' && !(await haveChildrenEnded(client, workflow, event.id))) {
      await client.updateWorkflow({ id, status: 'listening' })
    } else {
      const isSecond = workflow.output.steps.length === 1 && (name === 'works' || name === 'asks')
      if (isSecond) await step('second', name === 'works' ? 'in_progress' : 'listening')
      else await step('done', 'completed')
    }
    await pause(50)
  }

  export const hooks = {
    afterIncomingMessage: begin,
    async afterIncomingEvent(given) {
      if (given.event.type === 'workflow_update') await update(given)
    },
  }`
