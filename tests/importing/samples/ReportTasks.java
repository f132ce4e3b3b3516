class ReportTasks {
    @Scheduled(cron = "0 0 9 1-7 * MON", zone = "Europe/Berlin")
    @Transactional
    public void firstMonday() {}

    @Scheduled(cron = "15 0 2 * * FRI-SUN", zone = "Europe/Berlin")
    public void weekend() {}

    @Scheduled(cron = "-")
    public void switchedOff() {}

    @Scheduled(fixedRate = 60_000)
    public void poll() {}
}
