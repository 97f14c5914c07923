/** The FIFO queues of wake-ups, and the queues of what failed each time. */
import { Effect, PolicyStatement, StarPrincipal } from 'aws-cdk-lib/aws-iam';
import {
  DeduplicationScope,
  FifoThroughputLimit,
  type IQueue,
  Queue,
  QueuePolicy,
  type QueueProps,
} from 'aws-cdk-lib/aws-sqs';
import { Duration, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

/** The maximum retention of SQS. */
const RETENTION = Duration.days(14);

const fifo: QueueProps = {
  fifo: true,
  // Per group instead of per queue, so that only the limit of a group applies.
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

/** Receives wake-ups that failed five times. A redrive returns each to the queue that it came from. */
export class DeadLetters extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { ...fifo, retentionPeriod: RETENTION });
  }
}

/** A queue of wake-ups. */
export class WakeUpQueue extends Queue {
  /** @param props.visibility - seconds after which a wake-up is delivered again if its worker has ended */
  constructor(
    scope: Construct,
    id: string,
    { visibility, deadLetters }: { visibility: number; deadLetters: DeadLetters },
  ) {
    super(scope, id, {
      ...fifo,
      visibilityTimeout: Duration.seconds(visibility),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
    });
  }
}

/** Receives the positions of stream batches that failed permanently. */
export class FailedBatches extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { retentionPeriod: RETENTION });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is used like a dead-letter queue: only operators read it.',
    });
  }
}

/** Denies requests without TLS, by one policy that each of the queues has: in it, `*` is the queue. */
export class TlsOnly extends Construct {
  constructor(scope: Construct, id: string, queues: IQueue[]) {
    super(scope, id);
    new QueuePolicy(this, 'Policy', { queues }).document.addStatements(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new StarPrincipal()],
        actions: ['sqs:*'],
        resources: ['*'],
        conditions: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  }
}
