resource "aws_cloudwatch_event_rule" "five_minutes" {
  name                = "five-minutes"
  schedule_expression = "rate(5 minutes)"
}

resource "aws_scheduler_schedule" "migration" {
  schedule_expression          = "at(2026-11-20T13:00:00)"
  schedule_expression_timezone = "Asia/Tokyo"
  state                        = "DISABLED"
}

resource "aws_cloudwatch_event_rule" "wrong" {
  schedule_expression = "rate(1 minutes)"
}
