/** Who is notified: a topic for alarms with a subscriber, and a budget. */
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

/** The topic that alarms are sent to, with one subscriber, who confirms the subscription by a link in an email. */
export class AlarmTopic extends Topic {
  constructor(scope: Construct, id: string, { email, displayName }: { email: string; displayName: string }) {
    super(scope, id, { displayName, enforceSSL: true });
    this.addSubscription(new EmailSubscription(email));
    // A policy of the topic's own replaces the default one, which would let the alarms in.
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topicArn],
        conditions: {
          ArnLike: { 'aws:SourceArn': Stack.of(this).formatArn({ service: 'cloudwatch', resource: 'alarm:*' }) },
        },
      }),
    );
  }
}

interface MonthlyBudgetProps {
  /** US dollars. */
  amount: number;
  email: string;
}

/** Costs of the month, in percent of the budget, at which an email is sent. */
const NOTIFICATIONS = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
  { notificationType: 'ACTUAL', threshold: 100 },
];

/**
 * A monthly budget of the whole AWS account. One of this stack alone would need a tag that somebody activates for cost
 * allocation in the billing console; before that it would show no cost, and notify nobody.
 *
 * It has no name of its own: a change of its notifications replaces it, which cannot succeed while the name is taken.
 */
export class MonthlyBudget extends Construct {
  constructor(scope: Construct, id: string, { amount, email }: MonthlyBudgetProps) {
    super(scope, id);
    new CfnBudget(this, 'Budget', {
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount, unit: 'USD' } },
      notificationsWithSubscribers: NOTIFICATIONS.map((notification) => ({
        notification: { ...notification, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
        subscribers: [{ subscriptionType: 'EMAIL', address: email }],
      })),
    });
  }
}
