/**
 * What roles allow beyond the access patterns of their functions, in case IAM evaluates each action of a transaction with
 * the keys of the whole call: action and partitions, by the beginning of the function's logical ids.
 */
export const widened: Record<string, string[]> = {
  SendMessage: ['UpdateItem MESSAGE#*'],
  ReceiveRapidproMessage: ['PutItem REPEATS#*', 'UpdateItem MESSAGE#*'],
  ReceiveTurnMessage: ['UpdateItem MESSAGE#*'],
  ReceiveTestMessage: ['UpdateItem MESSAGE#*'],
  ReceiveAppEvents: [
    'ConditionCheckItem EVENT#*',
    'ConditionCheckItem GRANTS#*',
    'ConditionCheckItem OUTBOX#*',
    'ConditionCheckItem REQUEST#*',
    'DeleteItem ERASURE#*',
    'DeleteItem EVENT#*',
    'DeleteItem REMOVED#*',
    'PutItem ERASURE#*',
    'PutItem REQUEST#*',
    'PutItem USER#*',
    'UpdateItem EVENT#*',
    'UpdateItem GRANTS#*',
    'UpdateItem MESSAGE#*',
    'UpdateItem REMOVED#*',
  ],
  StartUserDataRequest: ['UpdateItem REQUEST#*'],
  Deliver: ['DeleteItem MESSAGE#*', 'DeleteItem SPACING#*', 'DeleteItem TOLD#*', 'UpdateItem MESSAGE#*'],
  Erase: ['DeleteItem MESSAGE#*', 'UpdateItem EVENT#*'],
};
