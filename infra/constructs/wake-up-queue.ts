/** The queue of wake-ups: first in, first out within a group; what fails five times goes to the dead letters. */
import { Duration, Validations } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, type IQueue, Queue, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Longest time that a queue keeps a message. */
const KEPT = Duration.days(14);

const fifo: QueueProps = {
  fifo: true,
  // Of each group, not of the queue: so there is no ceiling but that of a group.
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
  enforceSSL: true,
};

export class WakeUpQueue extends Construct {
  readonly queue: IQueue;
  readonly deadLetters: IQueue;

  /** `visibility` - seconds after which a wake-up comes again whose worker is gone. */
  constructor(scope: Construct, id: string, { visibility }: { visibility: number }) {
    super(scope, id);
    const deadLetters = new Queue(this, 'DeadLetters', { ...fifo, retentionPeriod: KEPT });
    this.deadLetters = deadLetters;
    this.queue = new Queue(this, 'Queue', {
      ...fifo,
      visibilityTimeout: Duration.seconds(visibility),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
    });
  }
}

/** Takes the positions of stream batches that a worker gave up. */
export class FailedBatches extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { enforceSSL: true, retentionPeriod: KEPT });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It takes what was given up, as a dead-letter queue does: nobody but operators reads it.',
    });
  }
}
